// Texts of the page of one discrepancy, in Korean.
import type { discrepancy as english } from '../en/discrepancy.ts'

export const discrepancy: typeof english = {
  title: '불일치',
  back: '전체 불일치',
  open: '불일치 보기',
  lastSeen: '최근 확인',
  asFound: '마지막으로 확인했을 때: ',
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
  others: '같은 주문 또는 결제의 다른 불일치',
  accept: {
    action: '부분 취소 반영',
    title: '부분 취소 반영',
    text: 'PG사에서 이미 환불한 금액이므로 실제 금액 이동은 없습니다. 주문은 결제 완료 상태로 남고, 나머지 금액은 그대로 유지되어 나중에 환불할 수 있습니다. 불일치는 해결되어 다시 발견되지 않습니다.',
    quoteTitle: '미리보기',
    returned: 'PG사에서 환불한 금액',
    unusedNow: '현재 미사용 크레딧',
    left: '남는 미사용 크레딧',
    valueAfter: '반영 후 잔여 금액',
    credits: '회수할 크레딧',
    creditsHint: (proposed, most) => `제안: ${proposed}개. 미사용 크레딧 중 최대 ${most}개까지 회수할 수 있습니다.`,
    creditsWrong: '0 이상의 정수를 입력해 주세요.',
    tooMany: (most) =>
      `최대 ${most}개까지 회수할 수 있습니다. 지금까지 환불된 금액 전체에 해당하는 크레딧과 주문의 보너스 중, 아직 회수하지 않은 미사용분까지입니다.`,
    fewer: (count, used, perDay) =>
      `환불 금액에 해당하는 크레딧보다 ${count}개 적습니다. 차이는 오늘의 조정 한도에 포함됩니다(${perDay}개 중 ${used}개 사용).`,
    more: (count, used, perDay) =>
      `환불 금액에 해당하는 크레딧보다 ${count}개 많습니다. 차이는 오늘의 조정 한도에 포함됩니다(${perDay}개 중 ${used}개 사용).`,
    needsApproval: (most) =>
      `차이가 ${most}개를 넘으면 승인 요청으로 저장되며, 다른 운영자가 승인할 때까지 크레딧을 회수하지 않습니다.`,
    sureTitle: '부분 취소를 반영하시겠습니까?',
    sureRequest: '부분 취소 승인을 요청하시겠습니까?',
    sure: (won, credits) => `PG사에서 환불한 ${won}에 대해 크레딧 ${credits}개를 회수합니다.`,
    sureRest: (credits, won) => `미사용 크레딧 ${credits}개가 남고, 잔여 금액은 ${won}이 됩니다.`,
    act: '지금 반영',
    request: '승인 요청',
    done: '부분 취소를 반영했습니다',
    doneText: (won, credits) => `PG사에서 환불한 금액은 ${won}이며, 크레딧 ${credits}개를 회수했습니다.`,
    doneRest: (won) => `주문은 결제 완료 상태로 유지됩니다. 잔여 금액 ${won}은 나중에 환불할 수 있습니다.`,
    requested: '다른 운영자의 승인을 기다립니다',
    requestedText: (won, credits) =>
      `${won}에 대해 크레딧 ${credits}개를 회수하는 요청을 저장했습니다. 아직 회수한 크레딧은 없습니다.`,
  },
  why: {
    role: '현재 역할로는 실행할 수 없습니다.',
    resolved: '이미 해결된 불일치입니다. PG사의 상태가 바뀌지 않으면 해결된 상태로 유지됩니다.',
    'no order': '동기화할 주문이 없습니다.',
    'not a part': '주문 자체의 결제가 PG사에서 일부만 취소된 경우에만 사용할 수 있습니다.',
  },
}
