// Texts of the pages of orders and of the search, in Korean.
import type { orders as english } from '../en/orders.ts'

export const orders: typeof english = {
  title: '주문',
  caption: '주문 목록, 최신순',
  none: '조건에 맞는 주문이 없습니다.',
  noneYet: '아직 주문이 없습니다.',
  lookedThrough: '지금까지 조회한 주문에는 없습니다. "더 보기"로 이전 주문을 계속 조회할 수 있습니다.',
  columns: {
    created: '생성 시각',
    order: '주문 번호',
    customer: '고객',
    package: '상품',
    amount: '결제 금액',
    credits: '크레딧',
    status: '상태',
  },
  filters: {
    status: '상태',
    everyStatus: '전체 상태',
    customer: '고객',
    customerHint: '이름 앞부분 또는 고객 ID',
    everyCustomer: '전체 고객',
    noMatch: '해당 이름으로 시작하는 고객이 없습니다.',
    typeOn: '고객 이름의 앞부분을 입력해 주세요.',
  },
  nameless: '이름 없음',

  search: {
    title: '검색',
    titleFor: (text) => `검색: ${text}`,
    caption: (count) => `검색 결과 ${count}건`,
    nothing: '검색 결과가 없습니다.',
    nothingHint:
      '주문 번호는 앞 8자 이상, 결제 키와 고객 ID는 전체, 고객은 이름 앞부분, API 키는 마지막 네 글자를 입력해 주세요.',
    empty: '화면 위쪽 검색창에 검색어를 입력해 주세요.',
    opening: '검색 결과가 한 건이어서 바로 이동합니다',
    columns: { kind: '구분', id: '검색 결과', customer: '고객', status: '상태' },
    kinds: { order: '주문', payment: '결제', customer: '고객', key: 'API 키' },
  },

  order: {
    title: '주문',
    back: '전체 주문',
    amount: '결제 금액',
    credits: '크레딧',
    package: '상품',
    customer: '고객',
    paymentKey: '결제 키',
    paymentKeyHint: '환불 권한이 있는 역할에만 전체가 표시됩니다.',
    noPaymentKey: '없음: 아직 승인된 결제가 없습니다.',
    created: '생성 시각',
    confirmed: '승인 시각',
    notConfirmed: '승인되지 않음',
    kept: '회수하지 못한 크레딧',
    keptHint: '환불할 때 이미 사용했거나 보류 중이어서 회수하지 못한 크레딧입니다.',
    meaning: {
      PENDING: '결제 대기 중입니다. 크레딧은 지급되지 않았습니다.',
      CONFIRMED: '결제가 완료되어 크레딧을 지급했습니다.',
      FAILED: '결제가 거절되었거나 기한 내에 결제되지 않았습니다. 크레딧은 지급되지 않았습니다.',
      CANCELLED: '고객이 취소했습니다. 결제 금액은 환불되고 크레딧은 회수되었습니다.',
      REFUNDED: '운영자가 환불했습니다. 남은 크레딧은 회수되었습니다.',
    },
  },

  open: {
    titles: {
      CONFIRM: 'PG사 결제 승인이 진행 중입니다',
      CANCEL: 'PG사 결제 취소가 진행 중입니다',
      REFUND: 'PG사 환불이 진행 중입니다',
      RETURN: 'PG사 승인 금액 반환이 진행 중입니다',
    },
    anyTitle: 'PG사에서 처리 중인 작업이 있습니다',
    text: '결과가 아직 확인되지 않았습니다. 시스템이 자동으로 계속 조회하며, "PG사와 동기화"를 실행하면 바로 확인할 수 있습니다.',
    since: '시작 시각',
    attempts: '재시도 횟수',
    times: (count) => `${count}회`,
    notYet: '아직 없음',
    lastAnswer: '마지막 응답',
    noAnswer: '아직 없음',
    next: '다음 시도',
    nextNone: '예정 없음',
  },

  disagreement: {
    title: (count) => `미해결 불일치 ${count}건`,
    found: '발견 시각',
  },

  actions: {
    title: '작업',
    settle: 'PG사와 동기화',
    refund: '환불',
    resend: '이벤트 재전송',
    why: {
      role: '현재 역할로는 실행할 수 없습니다.',
      open: 'PG사에서 처리 중인 작업이 있습니다. 먼저 PG사와 동기화해 주세요.',
      'no events': '전송할 이벤트가 없습니다.',
      'no endpoint': '이벤트를 구독하는 활성 엔드포인트가 없습니다.',
    },
    whyState: (status) => `현재 상태는 '${status}'입니다. 결제 완료된 주문만 환불할 수 있습니다.`,
    close: '닫기',
    cancel: '취소',
    back: '이전',
  },

  settle: {
    title: 'PG사와 동기화',
    text: '지금 PG사에 이 주문을 조회하여 장부를 맞춥니다. 진행 중인 작업은 마무리하고, 승인된 결제에는 크레딧을 지급하며, 실패한 주문에 승인된 금액은 반환합니다.',
    action: '지금 동기화',
    status: '현재 주문 상태',
    results: {
      agrees: 'PG사와 장부가 일치합니다',
      repaired: '주문을 업데이트했습니다',
      disagrees: 'PG사와 장부가 일치하지 않습니다',
      'under way': '다른 프로세스가 처리하고 있습니다',
      unknown: 'PG사에서 결과를 받지 못했습니다',
    },
    agrees: {
      PENDING:
        '이 주문으로 승인된 결제가 없습니다. 고객 카드에서 출금되었다면 결제 키나 영수증을 받아 검색해 주세요. 다른 주문의 결제일 수 있습니다.',
      CONFIRMED: '결제가 승인되었고 크레딧도 지급되었습니다. 변경한 내용이 없습니다.',
      FAILED: '이 주문으로 승인된 결제가 없습니다. 고객이 크레딧을 원하면 다시 구매해야 합니다.',
      CANCELLED: '결제가 취소되었고 크레딧도 회수되었습니다. 카드사 반영까지 며칠 걸릴 수 있습니다.',
      REFUNDED: '결제 금액이 환불되었습니다. 카드사 반영까지 며칠 걸릴 수 있습니다.',
    },
    repaired: {
      PENDING: '진행 중이던 작업을 종료했습니다. 승인된 결제가 없으므로 고객이 다시 결제할 수 있습니다.',
      CONFIRMED: '승인된 결제를 확인하여 크레딧을 지급했습니다. 고객에게 잔액을 다시 확인하도록 안내해 주세요.',
      FAILED: '결제가 거절되었거나, 승인된 금액을 카드로 반환합니다. 크레딧은 지급되지 않았습니다.',
      CANCELLED: '취소가 완료되었습니다. 결제가 취소되고 크레딧이 회수되었습니다.',
      REFUNDED: 'PG사에서 이미 취소된 결제였습니다. 남은 크레딧을 회수했습니다.',
    },
    other: {
      disagrees:
        '담당자의 판단이 필요합니다. 불일치 내용은 이 화면에 표시됩니다. 재무 담당자가 PG사 내역과 비교한 뒤 대사 화면에서 메모와 함께 해결합니다.',
      'under way': '요청 또는 워커가 지금 처리하고 있습니다. 몇 초 뒤에 다시 확인해 주세요.',
      unknown:
        '변경된 내용은 없으며 시스템이 자동으로 계속 조회합니다. 홈 화면에서 PG사 상태를 확인하고 몇 분 뒤에 다시 시도해 주세요.',
    },
  },

  refund: {
    title: '환불',
    quoteTitle: '환불 미리보기',
    paid: '결제 금액',
    backToCard: '카드 환불 금액',
    backUnknown: '확인 불가',
    creditsOfOrder: '주문 크레딧',
    takenBack: '회수할 크레딧',
    shortfall: '회수하지 않는 크레딧 (이미 사용했거나 보류 중)',
    moving: '그사이 고객이 크레딧을 사용하면 그 시점에 남은 만큼만 회수합니다.',
    reasonHint: 'PG사에 전달되고 감사 로그에 남습니다. 한 줄로 3~200자.',
    continue: '계속',
    sureTitle: '환불하시겠습니까?',
    sure: (won, credits) => `${won}을 카드로 환불하고 크레딧 ${credits}개를 회수합니다.`,
    sureUnknown: (credits) => `PG사에 남은 금액을 카드로 환불하고 크레딧 ${credits}개를 회수합니다.`,
    sureShortfall: (credits) => `이미 사용했거나 보류 중인 크레딧 ${credits}개는 회수하지 않습니다.`,
    final: '되돌릴 수 없습니다.',
    act: '지금 환불',
    done: '환불 완료',
    doneText: (credits) => `결제 금액이 카드로 환불됩니다. 크레딧 ${credits}개를 회수했습니다.`,
    doneShortfall: (credits) => `이미 사용했거나 보류 중인 크레딧 ${credits}개는 회수하지 못했습니다.`,
    unknown: '아직 결과를 알 수 없습니다',
    unknownText:
      'PG사에서 아직 환불 결과를 받지 못했습니다. 다른 방법으로 환불하지 마세요. 환불이 시작되었는지는 타임라인에서 확인할 수 있습니다. 시작되었다면 자동으로 계속 처리되며, "PG사와 동기화"를 실행하면 바로 확인할 수 있습니다.',
  },

  resend: {
    title: '이벤트 재전송',
    text: '이 주문의 이벤트를 구독하는 모든 활성 엔드포인트에 지금 한 번 더 전송합니다. 수신 측은 이벤트 ID로 중복을 구분합니다.',
    action: '지금 재전송',
    allDelivered: (count) => `전송 완료 ${count}건`,
    someFailed: (delivered, failed) => `전송 완료 ${delivered}건, 실패 ${failed}건`,
    none: '이 이벤트를 구독하는 엔드포인트가 없습니다.',
    failedCaption: '전송하지 못한 이벤트',
  },
}
