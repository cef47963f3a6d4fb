// The headings of the CSV files in the languages of the console, and the Korean words for codes.

export const languages = ['en', 'ko'] as const
export type Language = (typeof languages)[number]

export const headings = {
  day: { en: 'Day', ko: '날짜' },
  state: { en: 'Status', ko: '상태' },
  isOver: { en: 'Day is over', ko: '마감 여부' },
  movements: { en: 'Transactions', ko: '거래 건수' },
  gatewayCaptured: { en: 'Gateway captured', ko: 'PG사 승인' },
  gatewayCancelled: { en: 'Gateway cancelled', ko: 'PG사 취소' },
  gatewayNet: { en: 'Gateway net', ko: 'PG사 순액' },
  booksCaptured: { en: 'Books captured', ko: '장부 승인' },
  booksCancelled: { en: 'Books cancelled', ko: '장부 취소' },
  booksNet: { en: 'Books net', ko: '장부 순액' },
  difference: { en: 'Difference', ko: '차액' },
  comparedAt: { en: 'Reconciled', ko: '대사 시각' },
  reconciliationId: { en: 'Reconciliation ID', ko: '대사 ID' },

  time: { en: 'Time', ko: '시각' },
  orderId: { en: 'Order ID', ko: '주문 번호' },
  customerId: { en: 'Customer ID', ko: '고객 ID' },
  customerName: { en: 'Customer', ko: '고객' },
  packageType: { en: 'Package', ko: '패키지' },
  credits: { en: 'Credits', ko: '크레딧' },
  kind: { en: 'Type', ko: '구분' },
  krw: { en: 'Amount (KRW)', ko: '금액(원)' },
  supply: { en: 'Supply value (KRW)', ko: '공급가액(원)' },
  vat: { en: 'VAT (KRW)', ko: '부가세(원)' },
  status: { en: 'Order status', ko: '주문 상태' },
  operator: { en: 'Operator', ko: '운영자' },
  reason: { en: 'Reason', ko: '사유' },
  paymentKey: { en: 'Payment key', ko: '결제 키' },
  transactionKey: { en: 'Transaction key', ko: '거래 키' },

  failure: { en: 'Reason for failure', ko: '실패 사유' },
  gatewayCode: { en: 'Gateway code', ko: 'PG사 코드' },
  confirmedAt: { en: 'Confirmed', ko: '승인 시각' },
  refundedAmount: { en: 'Refunded (KRW)', ko: '환불 금액(원)' },
  openOperation: { en: 'In progress at the gateway', ko: 'PG사 처리 중' },

  discrepancyId: { en: 'Discrepancy ID', ko: '불일치 ID' },
  subject: { en: 'Order or payment', ko: '주문 또는 결제' },
  amount: { en: 'Amount (KRW)', ko: '금액(원)' },
  foundAt: { en: 'Found', ko: '발견 시각' },
  lastSeenAt: { en: 'Last seen', ko: '마지막 확인 시각' },
  resolvedAt: { en: 'Resolved', ko: '해결 시각' },
  resolution: { en: 'Resolution', ko: '해결 내용' },
  detail: { en: 'Recorded data', ko: '기록된 값' },

  grantedAt: { en: 'Granted', ko: '지급 시각' },
  used: { en: 'Used credits', ko: '사용 크레딧' },
  takenBack: { en: 'Taken back', ko: '회수한 크레딧' },
  unspent: { en: 'Unspent credits', ko: '미사용 크레딧' },
  value: { en: 'Value (KRW)', ko: '가치(원)' },

  entryNumber: { en: 'Entry', ko: '번호' },
  createdAt: { en: 'Time', ko: '시각' },
  delta: { en: 'Change', ko: '증감' },
  heldDelta: { en: 'Change of held credits', ko: '보류 증감' },
  balanceAfter: { en: 'Balance', ko: '잔액' },
  heldAfter: { en: 'Held', ko: '보류' },
  availableAfter: { en: 'Available', ko: '사용 가능' },
  reference: { en: 'Reference', ko: '참조' },
  holdId: { en: 'Hold ID', ko: '보류 ID' },
  service: { en: 'Service', ko: '서비스' },
  keyId: { en: 'Key', ko: '키' },
  userId: { en: 'User', ko: '사용자' },
  label: { en: 'Label', ko: '라벨' },
  units: { en: 'Units', ko: '단위 수' },
  count: { en: 'Uses', ko: '사용 건수' },
} satisfies Record<string, Record<Language, string>>

export type ColumnName = keyof typeof headings

/** Korean words for the codes of a column. A code without a word is written as it is. */
export const koreanCodes = {
  dayState: {
    agrees: '일치',
    repaired: '보정 후 일치',
    explained: '차액 확인됨',
    differs: '불일치',
    'under way': '대사 중',
    'not compared': '대사 전',
  },
  orderStatus: {
    PENDING: '결제 대기',
    CONFIRMED: '결제 완료',
    FAILED: '결제 실패',
    CANCELLED: '취소됨',
    REFUNDED: '환불됨',
  },
  failure: {
    'insufficient-funds': '잔액 부족·한도 초과',
    'limit-exceeded': '한도 초과',
    'card-declined': '카드 거절',
    'card-expired': '카드 유효 기간',
    'payment-expired': '결제 미완료',
    'order-expired': '기한 내 미결제',
    other: '기타 사유',
  },
  operationKind: { CONFIRM: '승인', CANCEL: '취소', REFUND: '환불', RETURN: '실패 주문 반환', PART: '부분 취소' },
  reason: { 'cancelled at the gateway': 'PG사에서 취소됨', 'the order had failed': '실패한 주문' },
  entryKind: {
    GRANT: '구매',
    ROLLBACK: '취소 회수',
    REFUND: '환불 회수',
    SPEND: '사용',
    HOLD: '보류',
    CAPTURE: '보류분 사용',
    RELEASE: '보류 해제',
    EXPIRE: '보류 만료',
    GOODWILL: '보상 지급',
    CORRECTION: '정정',
    REVERSAL: '사용 취소',
  },
} satisfies Record<string, Record<string, string>>

export type CodeName = keyof typeof koreanCodes
