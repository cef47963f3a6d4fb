// The texts of the checkout page in both languages, and how the language is chosen: the visible switch, then the
// browser's preference, then Korean, the language of the gateway.

import type { WayToPay, wallets } from '../payments/ways-to-pay.ts'
import type { CardName } from './cards.ts'

export type Language = 'ko' | 'en'

export type EndedKind = 'paid' | 'canceled' | 'refused' | 'expired' | 'unknown'

type Texts = {
  title: string
  note: string
  shop: string
  orderId: string
  amount: string
  chooseMethod: string
  noMethodChosen: string
  methods: Record<WayToPay, string>
  wallet: string
  wallets: Record<(typeof wallets)[number], string>
  chooseCard: string
  noCardChosen: string
  cards: Record<CardName, { name: string; consequence: string }>
  pay(amount: string): string
  cancel: string
  keys: string
  languages: string
  ended: Record<EndedKind, { heading: string; text: string }>
  continueToShop: string
  backToShop: string
  receipt: Record<
    'heading' | 'returned' | 'wallet' | 'money' | 'points' | 'card' | 'approvalNumber' | 'approvedAt',
    string
  >
  /** Part of the redirect to failUrl. */
  messages: Record<'PAY_PROCESS_CANCELED' | 'PAY_PROCESS_ABORTED' | 'REJECT_CARD_COMPANY', string>
}

const en: Texts = {
  title: 'Payment',
  note: 'Sandbox: no money moves.',
  shop: 'Paid to',
  orderId: 'Order',
  amount: 'Amount',
  chooseMethod: 'How to pay',
  noMethodChosen: 'Choose one of the ways to pay.',
  methods: {
    card: 'Card',
    'easy-card': 'Wallet: card',
    'easy-points': 'Wallet: card and points',
    'easy-money': 'Wallet: money',
  },
  wallet: 'Wallet',
  wallets: { 토스페이: 'Toss Pay', 네이버페이: 'Naver Pay', 카카오페이: 'Kakao Pay', 페이코: 'PAYCO' },
  chooseCard: 'Choose a test card',
  noCardChosen: 'Choose one of the cards.',
  cards: {
    approve: { name: 'Approved', consequence: 'The payment goes through.' },
    decline: { name: 'Declined', consequence: 'The card company declines at confirmation.' },
    insufficient: { name: 'Insufficient funds', consequence: 'The limit or the balance is too low at confirmation.' },
    limit: { name: 'Limit exceeded', consequence: 'The limit of the card is exceeded at confirmation.' },
    'expired-card': { name: 'Expired card', consequence: 'The card is declined as expired at confirmation.' },
    hang: { name: 'No answer', consequence: 'The payment is taken, but the answer to the shop is lost.' },
    refused: { name: 'Refused here', consequence: 'The card company declines in this window.' },
  },
  pay: (amount) => `Pay ${amount}`,
  cancel: 'Cancel',
  keys: 'Enter pays, Escape cancels.',
  languages: 'Language',
  ended: {
    paid: {
      heading: 'This payment was already made here',
      text: 'It was accepted here. The shop shows whether the payment is complete.',
    },
    canceled: { heading: 'This payment was cancelled', text: 'Nothing was charged. Start again at the shop.' },
    refused: {
      heading: 'The card was refused',
      text: 'Nothing was charged. Start again at the shop with another card.',
    },
    expired: {
      heading: 'This payment has expired',
      text: 'It was open for more than 30 minutes. Nothing was charged. Start again at the shop.',
    },
    unknown: {
      heading: 'There is no such payment',
      text: 'The address is wrong, or the sandbox was restarted. The shop shows the result of the payment.',
    },
  },
  continueToShop: 'Continue to the shop',
  backToShop: 'Back to the shop',
  receipt: {
    heading: 'Receipt',
    returned: 'Returned',
    wallet: 'Wallet',
    money: 'Wallet money',
    points: 'Points',
    card: 'Card',
    approvalNumber: 'Approval number',
    approvedAt: 'Approved at',
  },
  messages: {
    PAY_PROCESS_CANCELED: 'The buyer cancelled the payment.',
    PAY_PROCESS_ABORTED: 'The payment was not finished in time.',
    REJECT_CARD_COMPANY: 'The card company refused the payment.',
  },
}

const ko: Texts = {
  title: '결제',
  note: '샌드박스: 실제로 결제되지 않습니다.',
  shop: '결제 받는 곳',
  orderId: '주문번호',
  amount: '결제 금액',
  chooseMethod: '결제 수단을 선택하세요',
  noMethodChosen: '결제 수단을 하나 선택해 주세요.',
  methods: {
    card: '카드',
    'easy-card': '간편결제 카드',
    'easy-points': '간편결제 카드와 포인트',
    'easy-money': '간편결제 머니',
  },
  wallet: '간편결제',
  wallets: { 토스페이: '토스페이', 네이버페이: '네이버페이', 카카오페이: '카카오페이', 페이코: '페이코' },
  chooseCard: '테스트 카드를 선택하세요',
  noCardChosen: '카드를 하나 선택해 주세요.',
  cards: {
    approve: { name: '승인', consequence: '결제가 정상적으로 승인됩니다.' },
    decline: { name: '카드사 거절', consequence: '승인 단계에서 카드사가 거절합니다.' },
    insufficient: { name: '잔액 부족', consequence: '승인 단계에서 한도나 잔액이 부족합니다.' },
    limit: { name: '한도 초과', consequence: '승인 단계에서 한도 초과로 거절됩니다.' },
    'expired-card': { name: '유효기간 만료', consequence: '승인 단계에서 유효기간 만료로 거절됩니다.' },
    hang: { name: '응답 없음', consequence: '승인되지만 그 응답이 상점에 도착하지 않습니다.' },
    refused: { name: '결제창 거절', consequence: '이 창에서 카드사가 바로 거절합니다.' },
  },
  pay: (amount) => `${amount} 결제하기`,
  cancel: '취소',
  keys: 'Enter 키는 결제, Esc 키는 취소입니다.',
  languages: '언어',
  ended: {
    paid: {
      heading: '이미 진행한 결제입니다',
      text: '인증이 끝났습니다. 결제가 완료되었는지는 상점에서 확인해 주세요.',
    },
    canceled: { heading: '취소한 결제입니다', text: '결제되지 않았습니다. 상점에서 다시 시작해 주세요.' },
    refused: {
      heading: '카드가 거절되었습니다',
      text: '결제되지 않았습니다. 상점에서 다른 카드로 다시 시작해 주세요.',
    },
    expired: {
      heading: '결제 시간이 지났습니다',
      text: '결제창을 연 지 30분이 지났습니다. 결제되지 않았습니다. 상점에서 다시 시작해 주세요.',
    },
    unknown: {
      heading: '결제를 찾을 수 없습니다',
      text: '주소가 잘못되었거나 샌드박스가 다시 시작되었습니다. 결제 결과는 상점에서 확인해 주세요.',
    },
  },
  continueToShop: '상점으로 계속하기',
  backToShop: '상점으로 돌아가기',
  receipt: {
    heading: '매출전표',
    returned: '취소 금액',
    wallet: '간편결제',
    money: '간편결제 머니',
    points: '포인트',
    card: '카드',
    approvalNumber: '승인 번호',
    approvedAt: '승인 시각',
  },
  messages: {
    PAY_PROCESS_CANCELED: '구매자가 결제를 취소했습니다.',
    PAY_PROCESS_ABORTED: '결제가 제한 시간 안에 끝나지 않았습니다.',
    REJECT_CARD_COMPANY: '카드사가 결제를 거절했습니다.',
  },
}

export const texts: Record<Language, Texts> = { ko, en }

export const languageNames: Record<Language, string> = { ko: '한국어', en: 'English' }

export function chooseLanguage(requested: unknown, acceptLanguage: string | undefined): Language {
  if (requested === 'ko' || requested === 'en') return requested
  const preferred = (acceptLanguage ?? '')
    .split(',')
    .map((item, index) => ({ language: item.trim().slice(0, 2).toLowerCase(), weight: weightOf(item), index }))
    .filter(({ language, weight }) => (language === 'ko' || language === 'en') && weight > 0)
    .sort((one, other) => other.weight - one.weight || one.index - other.index)
  return preferred[0]?.language === 'en' ? 'en' : 'ko'
}

function weightOf(item: string): number {
  return Number(/;\s*q=([\d.]+)/.exec(item)?.[1] ?? 1)
}
