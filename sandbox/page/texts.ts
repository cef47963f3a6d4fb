// The texts of the sandbox's own page, in Korean and in English: one table each, so that a text missing in one language
// does not compile. Names of the protocol (codes, statuses, kinds of faults) are shown as they are, beside the words.

import type { Language } from '../checkout/texts.ts'
import type { Behaviour } from '../faults/behaviour.ts'
import type { Fault, FaultKind, WebhookFaultKind } from '../faults/faults.ts'
import type { PaymentStatus } from '../payments/payments.ts'
import type { DeliveryState } from '../webhooks/deliveries.ts'

/** The faults that one click sets: the ones that find most mistakes. */
export const quickFaults = [
  'confirm reset-after',
  'confirm hang-after',
  'confirm error-before',
  'webhook drop',
] as const

type Texts = {
  title: string
  note: string
  languages: string
  skip: string
  sections: string
  times: string
  payments: string
  onePayment: string
  allPayments: string
  noPayments: string
  unknownPayment: string
  newer: string
  older: string
  pages: string
  statuses: Record<PaymentStatus, string>
  balance(amount: string): string
  paymentKey: string
  requestedAt: string
  approvedAt: string
  failure: string
  cancels: string
  receipt: string
  openReceipt: string
  onlyThis: string
  requests: string
  noRequests: string
  request: Record<'time' | 'operation' | 'key' | 'fault' | 'answer', string>
  noKey: string
  replayed: string
  noAnswer: string
  cancelPart: string
  cancelAmount: string
  cancelReason: string
  cancelReasonDefault: string
  cancelButton: string
  resend: string
  faults: string
  faultsText: string
  quick: Record<(typeof quickFaults)[number], string>
  anyFault: string
  targets: Record<Fault['on'], string>
  kinds: Record<FaultKind, string>
  webhookKinds: Record<WebhookFaultKind, string>
  faultTimes: string
  delay: string
  addFault: string
  pending: string
  nothingPending: string
  clear: string
  fired: string
  nothingFired: string
  timesLeft(times: number): string
  clock: string
  clockText: string
  ahead(minutes: number): string
  advance: Record<'60000' | '600000' | '3600000' | '86400000', string>
  webhooks: string
  webhookUrl: string
  noWebhookUrl: string
  save: string
  deliveries: string
  noDeliveries: string
  states: Record<DeliveryState, string>
  answered(status: number): string
  notAnswered(error: string): string
  nextAttempt: string
  behaviour: string
  behaviourText: string
  change: string
  behaviours: Record<keyof Behaviour, string>
  foreign: string
  json: string
}

const en: Texts = {
  title: 'Toss sandbox',
  note: 'Stands in for Toss Payments. No money moves.',
  languages: 'Language',
  skip: 'Skip to the payments',
  sections: 'Sections',
  times: 'Korean time',
  payments: 'Payments',
  onePayment: 'One payment',
  allPayments: 'Show all payments',
  noPayments: 'No payments yet. Pay in your shop, and the payment appears here.',
  unknownPayment: 'There is no payment with this key.',
  newer: 'Newer',
  older: 'Older',
  pages: 'Pages of payments',
  statuses: {
    READY: 'Not paid yet',
    IN_PROGRESS: 'Awaiting confirm',
    DONE: 'Captured',
    ABORTED: 'Refused',
    EXPIRED: 'Expired',
    CANCELED: 'Cancelled',
    PARTIAL_CANCELED: 'Partly cancelled',
  },
  balance: (amount) => `${amount} left`,
  paymentKey: 'Payment key',
  requestedAt: 'Begun',
  approvedAt: 'Captured',
  failure: 'Failure',
  cancels: 'Cancels',
  receipt: 'Receipt',
  openReceipt: 'Open the receipt',
  onlyThis: 'Show only this payment',
  requests: 'What the shop sent',
  noRequests: 'Nothing since the sandbox started.',
  request: { time: 'Time', operation: 'Request', key: 'Idempotency-Key', fault: 'Fault', answer: 'Answer' },
  noKey: 'none',
  replayed: 'stored answer',
  noAnswer: 'no answer',
  cancelPart: 'Cancel as in the dashboard of the gateway',
  cancelAmount: 'Amount in won',
  cancelReason: 'Reason',
  cancelReasonDefault: 'Cancelled in the dashboard',
  cancelButton: 'Cancel this amount',
  resend: 'Send the webhook again',
  faults: 'What goes wrong next',
  faultsText: 'A fault happens to the next requests or webhooks that fit, as many times as set.',
  quick: {
    'confirm reset-after': 'Take the money, lose the answer',
    'confirm hang-after': 'Take the money, never answer',
    'confirm error-before': 'Fail before anything happens',
    'webhook drop': 'Lose the next webhook',
  },
  anyFault: 'Any fault',
  targets: {
    confirm: 'Confirm',
    cancel: 'Cancel',
    lookup: 'Lookup',
    transactions: 'List of transactions',
    webhook: 'Webhook',
  },
  kinds: {
    'error-before': '500 before the work',
    'error-after': '500 after the work',
    'reset-before': 'connection lost before the work',
    'reset-after': 'connection lost after the work',
    'hang-after': 'no answer after the work',
    delay: 'late, work included',
    'delay-after': 'answer late after the work',
    'html-after': 'a page instead of the answer',
    'truncated-after': 'half of the answer',
    'empty-after': 'an empty answer',
    'other-order-after': 'answer about another order',
    'other-amount-after': 'answer with another amount',
    'not-done-after': 'answer that says not done',
    'in-progress': '409, still in progress',
    'too-many': '429, too many requests',
    'too-fast': '403, requests too fast',
    'provider-error': '400, error at the provider',
  },
  webhookKinds: {
    duplicate: 'sent twice',
    drop: 'never sent',
    delay: 'sent late',
    reorder: 'sent after the next one',
    contradict: 'followed by its opposite',
  },
  faultTimes: 'Times',
  delay: 'Delay in ms',
  addFault: 'Set fault',
  pending: 'Waiting to happen',
  nothingPending: 'None. Every request is answered normally.',
  clear: 'Clear all',
  fired: 'Happened since the start',
  nothingFired: 'None yet.',
  timesLeft: (times) => `${times}×`,
  clock: 'Clock',
  clockText: 'Sessions, idempotency keys and webhook retries follow this clock. It only goes forward.',
  ahead: (minutes) => `${minutes.toLocaleString('en-US')} min ahead of this machine`,
  advance: { 60000: '+1 minute', 600000: '+10 minutes', 3600000: '+1 hour', 86400000: '+1 day' },
  webhooks: 'Webhooks',
  webhookUrl: 'Send to, on this machine',
  noWebhookUrl: 'Nothing is sent while this is empty.',
  save: 'Save',
  deliveries: 'Last deliveries',
  noDeliveries: 'None yet.',
  states: { pending: 'Waiting', delivered: 'Delivered', failed: 'Given up', dropped: 'Dropped' },
  answered: (status) => `HTTP ${status}`,
  notAnswered: (error) => `no answer (${error})`,
  nextAttempt: 'next',
  behaviour: 'Undocumented behaviour',
  behaviourText: 'What the documents of Toss leave open. A correct shop works with every value.',
  change: 'Show and change',
  behaviours: {
    amountMismatch: 'Code for another amount at confirm',
    unconfirmedLookup: 'Lookup of an unconfirmed payment',
    cancelRowSign: 'Sign of cancels in the list of transactions',
    replayServerErrors: 'A 5xx answer is bound to the idempotency key',
    transmissionIdOnRetry: 'Transmission id of a repeated webhook',
    webhookReceived: 'Answers that count as received',
    partialCancelWebhook: 'Webhook for a further partial cancel',
    easyPayParts: 'Parts of an easy payment and its total',
    cancelWindowDays: 'Days in which a payment can be cancelled',
  },
  foreign: 'The form was sent from another page. Nothing was changed.',
  json: 'As JSON',
}

const ko: Texts = {
  title: '토스 샌드박스',
  note: '토스페이먼츠를 대신합니다. 실제로 결제되지 않습니다.',
  languages: '언어',
  skip: '결제 목록으로 건너뛰기',
  sections: '바로가기',
  times: '한국 시간',
  payments: '결제 내역',
  onePayment: '결제 상세',
  allPayments: '전체 결제 보기',
  noPayments: '아직 결제가 없습니다. 상점에서 결제하면 여기에 표시됩니다.',
  unknownPayment: '이 결제 키에 해당하는 결제가 없습니다.',
  newer: '최근 결제',
  older: '이전 결제',
  pages: '결제 내역 페이지',
  statuses: {
    READY: '결제 전',
    IN_PROGRESS: '승인 대기',
    DONE: '결제 완료',
    ABORTED: '승인 거절',
    EXPIRED: '만료',
    CANCELED: '취소 완료',
    PARTIAL_CANCELED: '부분 취소',
  },
  balance: (amount) => `잔액 ${amount}`,
  paymentKey: '결제 키',
  requestedAt: '요청 시각',
  approvedAt: '승인 시각',
  failure: '실패 사유',
  cancels: '취소 내역',
  receipt: '매출전표',
  openReceipt: '매출전표 보기',
  onlyThis: '이 결제만 보기',
  requests: '상점이 보낸 요청',
  noRequests: '샌드박스를 시작한 뒤로 받은 요청이 없습니다.',
  request: { time: '시각', operation: '요청', key: 'Idempotency-Key', fault: '장애', answer: '응답' },
  noKey: '없음',
  replayed: '저장된 응답',
  noAnswer: '응답 없음',
  cancelPart: '상점관리자에서 취소하기',
  cancelAmount: '취소 금액(원)',
  cancelReason: '취소 사유',
  cancelReasonDefault: '상점관리자에서 취소',
  cancelButton: '이 금액 취소하기',
  resend: '웹훅 다시 보내기',
  faults: '다음에 일어날 장애',
  faultsText: '조건에 맞는 다음 요청이나 웹훅에 설정한 횟수만큼 장애가 적용됩니다.',
  quick: {
    'confirm reset-after': '결제 후 응답 유실',
    'confirm hang-after': '결제 후 응답 없음',
    'confirm error-before': '처리 전 실패',
    'webhook drop': '다음 웹훅 유실',
  },
  anyFault: '장애 선택',
  targets: {
    confirm: '결제 승인',
    cancel: '결제 취소',
    lookup: '결제 조회',
    transactions: '거래 조회',
    webhook: '웹훅',
  },
  kinds: {
    'error-before': '처리 전 500 오류',
    'error-after': '처리 후 500 오류',
    'reset-before': '처리 전 연결 끊김',
    'reset-after': '처리 후 연결 끊김',
    'hang-after': '처리 후 응답 없음',
    delay: '늦게 처리하고 응답',
    'delay-after': '처리 후 늦게 응답',
    'html-after': '응답 대신 HTML 페이지',
    'truncated-after': '잘린 응답',
    'empty-after': '빈 응답',
    'other-order-after': '다른 주문의 응답',
    'other-amount-after': '다른 금액의 응답',
    'not-done-after': '완료되지 않았다는 응답',
    'in-progress': '409, 아직 처리 중',
    'too-many': '429, 요청이 너무 많음',
    'too-fast': '403, 요청이 너무 빠름',
    'provider-error': '400, 제휴사 일시 오류',
  },
  webhookKinds: {
    duplicate: '두 번 전송',
    drop: '전송하지 않음',
    delay: '늦게 전송',
    reorder: '다음 웹훅보다 늦게 전송',
    contradict: '반대 상태의 웹훅도 전송',
  },
  faultTimes: '횟수',
  delay: '지연 시간(ms)',
  addFault: '장애 설정',
  pending: '대기 중인 장애',
  nothingPending: '없음. 모든 요청에 정상적으로 응답합니다.',
  clear: '모두 지우기',
  fired: '시작한 뒤 일어난 장애',
  nothingFired: '아직 없습니다.',
  timesLeft: (times) => `${times}회`,
  clock: '시계',
  clockText: '결제 세션, 멱등키, 웹훅 재전송이 이 시계를 따릅니다. 되돌릴 수 없습니다.',
  ahead: (minutes) => `이 컴퓨터보다 ${minutes.toLocaleString('en-US')}분 빠름`,
  advance: { 60000: '+1분', 600000: '+10분', 3600000: '+1시간', 86400000: '+1일' },
  webhooks: '웹훅',
  webhookUrl: '받는 주소(이 컴퓨터만 가능)',
  noWebhookUrl: '비워 두면 아무것도 보내지 않습니다.',
  save: '저장',
  deliveries: '최근 전송',
  noDeliveries: '아직 없습니다.',
  states: { pending: '대기 중', delivered: '전송 완료', failed: '전송 포기', dropped: '보내지 않음' },
  answered: (status) => `HTTP ${status}`,
  notAnswered: (error) => `응답 없음(${error})`,
  nextAttempt: '다음 시도',
  behaviour: '문서에 없는 동작',
  behaviourText: '토스 문서에 정해져 있지 않은 동작입니다. 올바른 상점은 어떤 값에서도 동작해야 합니다.',
  change: '확인하고 변경하기',
  behaviours: {
    amountMismatch: '승인 금액이 다를 때의 코드',
    unconfirmedLookup: '승인되지 않은 결제의 조회',
    cancelRowSign: '거래 조회에서 취소 금액의 부호',
    replayServerErrors: '5xx 응답도 멱등키에 저장',
    transmissionIdOnRetry: '재전송한 웹훅의 전송 ID',
    webhookReceived: '수신으로 인정하는 응답',
    partialCancelWebhook: '추가 부분 취소의 웹훅',
    easyPayParts: '간편결제 금액의 합과 총 결제 금액',
    cancelWindowDays: '결제를 취소할 수 있는 기간(일)',
  },
  foreign: '다른 페이지에서 보낸 요청입니다. 변경된 내용이 없습니다.',
  json: 'JSON으로 보기',
}

export const pageTexts: Record<Language, Texts> = { ko, en }

export type PageTexts = Texts
