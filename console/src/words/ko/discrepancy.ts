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
  accept: {
    action: '부분 취소 반영',
    title: '부분 취소 반영',
    text: '실제 금액 이동은 없습니다. PG사에서 이미 취소된 금액으로 주문을 환불 상태로 바꾸며, 나머지 결제 금액은 그대로 남습니다. 회수하지 않은 크레딧은 고객이 계속 사용할 수 있습니다. 불일치는 해결되어 다시 발견되지 않으며, 이 주문은 더 이상 환불할 수 없습니다.',
    credits: '회수할 크레딧',
    creditsHint: (credits) => `0부터 주문 크레딧 ${credits}개까지 입력할 수 있습니다. 0이면 회수하지 않습니다.`,
    creditsWrong: '0부터 주문 크레딧까지의 정수를 입력해 주세요.',
    done: '부분 취소를 반영했습니다.',
    problems: {
      BUS002: '변경된 내용은 없습니다. 고객이 사용할 수 있는 크레딧이 부족하거나 그사이 주문이 바뀌었습니다.',
      PAYMENT_CANCEL_FAILED:
        '변경된 내용은 없습니다. PG사에 이 결제의 부분 취소 내역이 없습니다. 주문을 PG사와 동기화해 주세요.',
    },
  },
  why: {
    role: '현재 역할로는 실행할 수 없습니다.',
    resolved: '이미 해결된 불일치입니다. PG사와 장부가 여전히 다르면 다음 대사에서 새로 발견됩니다.',
    'no order': '동기화할 주문이 없습니다.',
    'not a part': 'PG사에서 일부만 취소된 결제에만 사용할 수 있습니다.',
  },
}
