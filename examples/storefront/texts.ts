// All texts of the shop, in Korean and in English: one table each, so that a text missing in one language does not
// compile.

import type { OrderStatus } from '../../client/src/index.ts'
import type { ApiCode } from './api.ts'
import type { OutcomeKind } from './outcome.ts'

export type Language = 'ko' | 'en'

export const languageNames: Record<Language, string> = { ko: '한국어', en: 'English' }

export type Texts = typeof en

const en = {
  shop: 'Credit shop',
  packages: 'Packages',
  package: 'Package',
  orders: 'Orders',
  balance: 'Balance',
  language: 'Language',
  skip: 'Skip to the content',
  credits: (count: number) => (count === 1 ? '1 credit' : `${count.toLocaleString('en-US')} credits`),
  buyCredits: 'Buy credits',
  buyCreditsText: 'Credits are added as soon as the payment is complete.',
  bonus: (percentage: number, count: number) => `${percentage}% bonus: ${count} included`,
  noBonus: 'No bonus',
  buy: 'Buy',
  packageNames: { BASIC: 'Basic', STANDARD: 'Standard', PRO: 'Pro' } as Record<string, string>,
  orderName: (packageName: string) => `Credit package ${packageName}`,
  order: 'Order',
  amount: 'Amount',
  card: 'Card',
  approvalNumber: 'Approval number',
  receipt: 'Receipt',
  openReceipt: 'Open the receipt',
  date: 'Date',
  noOrders: 'Nothing bought yet.',
  payHeading: 'Payment',
  payText: 'The payment window of the gateway opens. You come back here afterwards.',
  payButton: 'Open the payment window',
  payProblem: 'The payment window could not be opened. Nothing was charged. Try again.',
  payNoScript: 'The payment window needs JavaScript.',
  payAgain: 'Pay for this order',
  checkAgain: 'Check again',
  buyAgain: 'Choose a package',
  seeOrder: 'See the order',
  tryAgain: 'Try again',
  outcome: {
    confirmed: { heading: 'Payment complete', text: 'The credits are in your account.' },
    refused: {
      heading: 'The payment was refused',
      text: 'Nothing was charged and no credits were added. Buy again with another card, or ask your card company.',
    },
    cancelled: { heading: 'Order cancelled', text: 'The payment was cancelled and its credits were taken back.' },
    refunded: { heading: 'Order refunded', text: 'The payment was refunded.' },
    awaiting: { heading: 'Not paid yet', text: 'The order is open. Nothing was charged.' },
    mismatch: {
      heading: 'This payment does not belong to the order',
      text: 'No credits were added for it. The order is still open, and you can pay for it.',
    },
    unknown: {
      heading: 'We are checking your payment',
      text: 'The result of your payment has not arrived yet. Please do not pay again: it will show up here.',
    },
    missing: {
      heading: 'The order is not known any more',
      text: 'The payment service has no such order for this shop.',
    },
  } satisfies Record<OutcomeKind, { heading: string; text: string }>,
  creditsAdded: (count: string) => `${count} added.`,
  balanceNow: (count: string) => `Your balance is ${count}.`,
  checkingAgain: 'This page checks again by itself.',
  checkedEnough: 'It takes longer than usual. Nothing is lost: come back to this order later, or check again now.',
  fail: {
    PAY_PROCESS_CANCELED: { heading: 'Payment cancelled', text: 'You left the payment window. Nothing was charged.' },
    PAY_PROCESS_ABORTED: { heading: 'The payment was not finished', text: 'Nothing was charged.' },
    REJECT_CARD_COMPANY: {
      heading: 'The card was refused',
      text: 'The card company declined in the payment window. Nothing was charged. Try another card.',
    },
  } as Record<string, { heading: string; text: string }>,
  failOtherwise: { heading: 'The payment did not go through', text: 'The payment window ended without a payment.' },
  windowMessage: 'Message of the payment window',
  cancelHeading: 'Cancel this order',
  cancelText: 'The payment is refunded and the credits are taken from your balance.',
  cancelReason: 'Reason',
  cancelButton: 'Cancel the order',
  cancelReasonProblem: 'Give a reason of 1 to 200 characters.',
  cancelUnknown:
    'We do not know yet whether the cancellation went through. If it has begun, its credits are on hold until we do.',
  cancelAgain: 'Try again',
  cancelRefused: 'The order could not be cancelled.',
  statuses: {
    PENDING: 'Not paid yet',
    CONFIRMED: 'Complete',
    FAILED: 'Refused',
    CANCELLED: 'Cancelled',
    REFUNDED: 'Refunded',
  } satisfies Record<OrderStatus, string>,
  statusUnknown: 'Being checked',
  statusMissing: 'Not known',
  notFound: { heading: 'Page not found', text: 'There is nothing at this address.' },
  orderNotFound: { heading: 'Order not found', text: 'This shop has no such order.' },
  amountDiffers: {
    heading: 'The amount does not match',
    text: 'The amount in the address is not the amount of the order. This address has completed nothing: see the order.',
  },
  incomplete: {
    heading: 'Something is missing',
    text: 'The address or the form is incomplete. Start again from the shop.',
  },
  failed: { heading: 'Something went wrong here', text: 'The shop has a problem. Try again in a moment.' },
  unavailable: 'The shop is not available',
  errors: {
    INVALID_API_KEY: "The shop's access to the payment service is not set up correctly. Please contact the shop.",
    AUTH001: 'The payment service does not recognise this shop. Please contact the shop.',
    AUTH003: "The shop's access to the payment service is suspended. Please contact the shop.",
    VAL001: 'The payment service could not read the request of the shop. Please contact the shop.',
    VAL002: 'The request of the shop lacks a value. Please contact the shop.',
    VAL003: 'The payment service did not accept the request.',
    VAL004: 'The request of the shop is too large. Please contact the shop.',
    BUS002: 'There are not enough credits for this.',
    PAYMENT_CANCEL_FAILED: 'The payment could not be cancelled.',
    NOT000: 'The payment service has no such entry.',
    SVC001: 'The payment service is busy at the moment.',
    INT001: 'The payment service has a problem at the moment.',
    UNREACHABLE: 'The payment service cannot be reached at the moment.',
  } satisfies Record<ApiCode, string>,
}

const ko: Texts = {
  shop: '크레딧 상점',
  packages: '패키지',
  package: '패키지',
  orders: '주문 내역',
  balance: '잔액',
  language: '언어',
  skip: '본문으로 건너뛰기',
  credits: (count) => `${count.toLocaleString('en-US')} 크레딧`,
  buyCredits: '크레딧 구매',
  buyCreditsText: '결제가 완료되면 크레딧이 바로 충전됩니다.',
  bonus: (percentage, count) => `보너스 ${percentage}%: ${count} 크레딧 포함`,
  noBonus: '보너스 없음',
  buy: '구매하기',
  packageNames: { BASIC: '베이직', STANDARD: '스탠다드', PRO: '프로' },
  orderName: (packageName) => `크레딧 패키지 ${packageName}`,
  order: '주문번호',
  amount: '금액',
  card: '카드',
  approvalNumber: '승인 번호',
  receipt: '매출전표',
  openReceipt: '매출전표 열기',
  date: '날짜',
  noOrders: '아직 구매 내역이 없습니다.',
  payHeading: '결제',
  payText: '결제창이 열립니다. 결제가 끝나면 이곳으로 돌아옵니다.',
  payButton: '결제창 열기',
  payProblem: '결제창을 열지 못했습니다. 결제되지 않았습니다. 다시 시도해 주세요.',
  payNoScript: '결제창을 열려면 자바스크립트가 필요합니다.',
  payAgain: '이 주문 결제하기',
  checkAgain: '다시 확인하기',
  buyAgain: '패키지 선택하기',
  seeOrder: '주문 보기',
  tryAgain: '다시 시도하기',
  outcome: {
    confirmed: { heading: '결제가 완료되었습니다', text: '크레딧이 충전되었습니다.' },
    refused: {
      heading: '결제가 거절되었습니다',
      text: '결제되지 않았고 크레딧도 충전되지 않았습니다. 다른 카드로 다시 구매하거나 카드사에 문의해 주세요.',
    },
    cancelled: { heading: '취소된 주문입니다', text: '결제가 취소되었고 크레딧이 회수되었습니다.' },
    refunded: { heading: '환불된 주문입니다', text: '결제 금액이 환불되었습니다.' },
    awaiting: { heading: '아직 결제되지 않았습니다', text: '주문이 열려 있습니다. 결제된 금액은 없습니다.' },
    mismatch: {
      heading: '이 주문의 결제가 아닙니다',
      text: '이 결제로 충전된 크레딧은 없습니다. 주문은 아직 열려 있으며 결제할 수 있습니다.',
    },
    unknown: {
      heading: '결제 결과를 확인하고 있습니다',
      text: '결제에 대한 응답이 아직 도착하지 않았습니다. 다시 결제하지 말고 기다려 주세요. 결과는 이곳에 표시됩니다.',
    },
    missing: { heading: '주문을 찾을 수 없습니다', text: '결제 서비스에 이 상점의 해당 주문이 없습니다.' },
  },
  creditsAdded: (count) => `${count}이 충전되었습니다.`,
  balanceNow: (count) => `현재 잔액은 ${count}입니다.`,
  checkingAgain: '이 페이지가 자동으로 다시 확인합니다.',
  checkedEnough: '평소보다 오래 걸리고 있습니다. 사라지는 것은 없으니 나중에 이 주문을 다시 열거나 지금 확인해 주세요.',
  fail: {
    PAY_PROCESS_CANCELED: { heading: '결제를 취소했습니다', text: '결제창을 닫았습니다. 결제되지 않았습니다.' },
    PAY_PROCESS_ABORTED: { heading: '결제가 끝나지 않았습니다', text: '결제되지 않았습니다.' },
    REJECT_CARD_COMPANY: {
      heading: '카드가 거절되었습니다',
      text: '결제창에서 카드사가 거절했습니다. 결제되지 않았습니다. 다른 카드로 시도해 주세요.',
    },
  },
  failOtherwise: { heading: '결제가 진행되지 않았습니다', text: '결제창이 결제 없이 끝났습니다.' },
  windowMessage: '결제창 메시지',
  cancelHeading: '주문 취소',
  cancelText: '결제 금액이 환불되고 크레딧이 잔액에서 차감됩니다.',
  cancelReason: '취소 사유',
  cancelButton: '주문 취소하기',
  cancelReasonProblem: '취소 사유를 1자 이상 200자 이하로 적어 주세요.',
  cancelUnknown: '취소되었는지 아직 확인되지 않았습니다. 취소가 시작되었다면 확인될 때까지 크레딧이 보류됩니다.',
  cancelAgain: '다시 요청하기',
  cancelRefused: '주문을 취소하지 못했습니다.',
  statuses: {
    PENDING: '결제 전',
    CONFIRMED: '완료',
    FAILED: '거절',
    CANCELLED: '취소',
    REFUNDED: '환불',
  },
  statusUnknown: '확인 중',
  statusMissing: '알 수 없음',
  notFound: { heading: '페이지를 찾을 수 없습니다', text: '이 주소에는 아무것도 없습니다.' },
  orderNotFound: { heading: '주문을 찾을 수 없습니다', text: '이 상점에 해당 주문이 없습니다.' },
  amountDiffers: {
    heading: '금액이 일치하지 않습니다',
    text: '주소의 금액이 주문 금액과 다릅니다. 이 주소로는 아무것도 처리되지 않았습니다. 주문을 확인해 주세요.',
  },
  incomplete: { heading: '정보가 부족합니다', text: '주소나 양식이 완전하지 않습니다. 상점에서 다시 시작해 주세요.' },
  failed: { heading: '문제가 발생했습니다', text: '상점에 문제가 있습니다. 잠시 후 다시 시도해 주세요.' },
  unavailable: '상점을 이용할 수 없습니다',
  errors: {
    INVALID_API_KEY: '상점의 결제 서비스 설정이 올바르지 않습니다. 상점에 알려 주세요.',
    AUTH001: '결제 서비스가 이 상점을 인식하지 못합니다. 상점에 알려 주세요.',
    AUTH003: '상점의 결제 서비스 이용이 정지되었습니다. 상점에 알려 주세요.',
    VAL001: '결제 서비스가 상점의 요청을 읽지 못했습니다. 상점에 알려 주세요.',
    VAL002: '상점의 요청에 빠진 정보가 있습니다. 상점에 알려 주세요.',
    VAL003: '결제 서비스가 요청을 받아들이지 않았습니다.',
    VAL004: '상점의 요청이 너무 큽니다. 상점에 알려 주세요.',
    BUS002: '크레딧이 부족합니다.',
    PAYMENT_CANCEL_FAILED: '결제를 취소하지 못했습니다.',
    NOT000: '결제 서비스에 해당 정보가 없습니다.',
    SVC001: '결제 서비스가 잠시 혼잡합니다.',
    INT001: '지금은 결제 서비스에 문제가 있습니다.',
    UNREACHABLE: '지금은 결제 서비스에 연결할 수 없습니다.',
  },
}

export const texts: Record<Language, Texts> = { ko, en }

/** The requested language, then the one chosen before, then the browser's preference, then Korean. */
export function chooseLanguage(requested: unknown, chosen: unknown, acceptLanguage: string | undefined): Language {
  for (const language of [requested, chosen]) if (language === 'ko' || language === 'en') return language
  const preferred = (acceptLanguage ?? '')
    .split(',')
    .map((item) => ({ name: item.trim().slice(0, 2), weight: Number(/;\s*q=([\d.]+)/.exec(item)?.[1] ?? 1) }))
    .filter(({ name, weight }) => (name === 'ko' || name === 'en') && weight > 0)
    .sort((one, other) => other.weight - one.weight)
  return preferred[0]?.name === 'en' ? 'en' : 'ko'
}
