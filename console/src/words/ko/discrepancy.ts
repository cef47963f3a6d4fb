// Texts of the page of one discrepancy, in Korean.
import type { discrepancy as english } from '../en/discrepancy.ts'

export const discrepancy: typeof english = {
  title: '불일치',
  back: '전체 불일치',
  open: '불일치 보기',
  lastSeen: '최근 확인',
  resolvedAt: '해결 시각',
  customer: '고객',
  unknownCustomer: '알 수 없음',
  order: '주문 번호',
  orderNow: '현재 주문 상태',
  payment: 'PG사 결제',
  sides: '비교',
  sidesHint: '마지막으로 확인한 시점의 내용입니다. 이후 주문 상태가 바뀌었을 수 있습니다.',
  books: '장부',
  gateway: 'PG사',
  nothing: '내역이 없습니다.',
  history: '타임라인',
  historyCaption: '불일치 타임라인, 시간순',
  others: '같은 주문의 다른 불일치',
  why: {
    role: '현재 역할로는 실행할 수 없습니다.',
    resolved: '이미 해결된 불일치입니다. PG사와 장부가 여전히 다르면 다음 대사에서 새로 발견됩니다.',
    'no order': '동기화할 주문이 없습니다.',
  },
}
