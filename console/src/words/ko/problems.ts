// Texts of errors and what to do about them, in Korean.
import type { problems as english, ProblemText } from '../en/problems.ts'

const unreadable: ProblemText = {
  title: '요청을 처리하지 못했습니다.',
  hint: '새로 고침한 뒤 다시 시도해 주세요. 계속되면 서비스 담당자에게 알려 주세요.',
}

export const problems: typeof english = {
  serviceMessage: '서비스 응답 원문',
  page: {
    title: '화면을 표시하지 못했습니다.',
    hint: '새로 고침해 주세요. 계속되면 서비스 담당자에게 알려 주세요.',
  },
  other: { title: '요청이 거절되었습니다.', hint: '새로 고침하여 현재 상태를 확인해 주세요.' },

  codes: {
    NO_ANSWER: {
      title: '서비스가 응답하지 않습니다.',
      hint: '재시작 중일 수 있습니다. 작업은 이미 처리되었을 수 있으니 결과를 확인한 뒤 다시 시도해 주세요.',
    },
    INT001: {
      title: '서비스에서 오류가 발생했습니다.',
      hint: '자세한 내용은 서비스 로그에 있습니다. 작업은 이미 처리되었을 수 있으니 결과를 확인한 뒤 다시 시도해 주세요.',
    },
    SVC001: {
      title: '지금은 처리할 수 없습니다.',
      hint: '잠시 후 현재 상태를 확인한 뒤 다시 시도해 주세요.',
    },
    AUTH001: { title: '로그아웃되었습니다.', hint: '로그인한 뒤 다시 시도해 주세요.' },
    AUTH003: { title: '이 작업을 할 권한이 없습니다.', hint: '권한이 있는 담당자에게 요청해 주세요.' },
    NOT000: { title: '찾을 수 없습니다.', hint: '주소를 확인하거나 검색해 주세요.' },
    VAL001: unreadable,
    VAL002: { title: '입력하지 않은 항목이 있습니다.', hint: null },
    VAL003: { title: '입력한 내용을 확인해 주세요.', hint: null },
    VAL004: { title: '입력한 내용이 너무 깁니다.', hint: '줄여서 다시 시도해 주세요.' },
    PAYMENT_CANCEL_FAILED: {
      title: '환불하지 못했습니다.',
      hint: '타임라인을 확인하고 주문을 PG사와 동기화해 주세요.',
    },
    BUS002: { title: '크레딧이 부족합니다.', hint: null },
    INVALID_API_KEY: unreadable,
  },

  reasons: {
    'refused by the gateway': {
      title: 'PG사가 환불을 거절했습니다.',
      hint: '환불하거나 회수한 것은 없습니다. PG사의 응답은 타임라인에 있습니다. 주문을 PG사와 동기화하면 현재 PG사 내역을 확인할 수 있습니다.',
    },
    'not confirmed': {
      title: '환불할 수 없는 주문입니다.',
      hint: '결제 완료된 주문만 환불할 수 있습니다. 주문 상태가 바뀌었으니 타임라인을 확인해 주세요.',
    },
    open: {
      title: 'PG사에서 처리 중인 작업이 있습니다.',
      hint: '먼저 주문을 PG사와 동기화한 뒤 다시 시도해 주세요.',
    },
    'refunded already': {
      title: '이미 환불된 주문입니다.',
      hint: '환불 금액은 주문 화면에서 확인할 수 있습니다.',
    },
    'nothing left': {
      title: '환불할 크레딧이 없습니다.',
      hint: '구매한 크레딧을 모두 사용했습니다. 보너스 크레딧은 환불되지 않습니다.',
    },
    'below the smallest amount': {
      title: '미사용분 금액이 최소 환불 금액보다 적습니다.',
      hint: '최소 환불 금액은 주문에 적용되는 환불 규정(REFUND_SMALLEST_AMOUNT, REFUND_RULES 설정)에 있습니다.',
    },
    'credits held': {
      title: '미사용 크레딧이 보류 중입니다.',
      hint: '서비스가 작업을 위해 보류한 크레딧입니다. 작업이 끝난 뒤 다시 시도해 주세요.',
    },
    'cancelled in part at the gateway': {
      title: 'PG사에서 이미 일부 취소된 결제입니다.',
      hint: '주문을 PG사와 동기화한 뒤 불일치 화면에서 부분 취소를 반영해 주세요.',
    },
    'not partly cancelled': {
      title: '반영할 부분 취소가 없습니다.',
      hint: 'PG사에 아직 반영하지 않은 부분 취소 내역이 없습니다. 주문을 PG사와 동기화해 주세요.',
    },
    'not a part': {
      title: '이 불일치는 반영할 수 없습니다.',
      hint: '이미 해결되었거나 PG사에서 일부만 취소된 결제에 대한 것이 아닙니다. 페이지를 새로고침해 주세요.',
    },
    'gateway does not answer': {
      title: 'PG사가 응답하지 않습니다.',
      hint: '취소된 금액을 확인하지 못해 아무것도 변경하지 않았습니다. 홈 화면에서 PG사 상태를 확인하고 몇 분 뒤에 다시 시도해 주세요.',
    },
    'accepted otherwise': {
      title: '이미 다른 크레딧 수로 반영되었습니다.',
      hint: '다른 운영자가 먼저 처리했습니다. 회수한 크레딧은 주문 화면에서 확인할 수 있습니다.',
    },
    'requested already': {
      title: '다른 크레딧 수로 승인을 기다리는 요청이 있습니다.',
      hint: '변경된 내용은 없습니다. 다른 운영자가 그 요청을 먼저 승인하거나 반려해야 합니다.',
    },
    changed: {
      title: '그사이 주문 또는 크레딧이 바뀌었습니다.',
      hint: '변경된 내용은 없습니다. 바뀐 내용을 확인한 뒤 진행해 주세요.',
    },
    'adjustment limit': {
      title: '오늘 남은 조정 한도보다 많습니다.',
      hint: '변경된 내용은 없습니다. 한도가 더 높은 운영자에게 요청하거나 한국 시간으로 내일 다시 시도해 주세요.',
    },
    'second person': { title: '다른 운영자가 승인해야 합니다.', hint: '본인이 올린 요청입니다.' },
    decided: { title: '이미 처리된 요청입니다.', hint: '다른 운영자가 먼저 처리했습니다. 화면을 새로 고쳐 주세요.' },
    resolved: {
      title: '이미 해결된 불일치입니다.',
      hint: '다른 담당자가 먼저 처리했거나 PG사와 장부가 일치하게 되었습니다. 처리 내용은 불일치 화면에서 확인할 수 있습니다.',
    },
    'too many budgets': {
      title: '예산이 이미 100개입니다.',
      hint: '먼저 다른 예산을 삭제해 주세요.',
    },
    'too many to sort': {
      title: '주문이 너무 많아 금액순으로 정렬할 수 없습니다.',
      hint: '기간을 더 짧게 선택해 주세요.',
    },
    'too many customers': {
      title: '고객 수가 많아 잔액순으로 정렬할 수 없습니다.',
      hint: '잔액순 정렬은 고객 200,000명까지 가능합니다. 순 결제액이나 최근 구매일로 정렬해 주세요.',
    },
    'not logged yet': {
      title: '몇 초 후에 준비됩니다.',
      hint: '워커가 몇 초 안에 항목을 투명성 로그에 추가합니다. 다시 시도해 주세요. 몇 분이 지나도 안 되면 로그 화면에서 대기 중인 항목 수를 확인하세요.',
    },
    'log held back': {
      title: '투명성 로그의 서명이 중단되었습니다.',
      hint: '백업에서 복원된 로그이므로 다른 이름이 필요합니다. 로그 화면에서 설정 방법을 확인하세요.',
    },
    'suspended key': { title: '이미 정지된 API 키입니다.', hint: '새 API 키를 발급해 주세요.' },
    'other days': {
      title: '다른 날짜의 대사가 진행 중입니다.',
      hint: '대사는 한 번에 하나만 실행됩니다. 진행 중인 대사가 끝난 뒤 다시 시도해 주세요.',
    },
    'needs one server': {
      title: '클러스터에서는 전체 고객 대상 예산을 설정할 수 없습니다.',
      hint: '고객별로 서비스 예산을 설정해 주세요.',
    },
    role: { title: '이 작업을 할 권한이 없습니다.', hint: '권한이 있는 담당자에게 요청해 주세요.' },
    password: { title: '최초 비밀번호를 먼저 변경해 주세요.', hint: '변경하기 전에는 다른 작업을 할 수 없습니다.' },
    origin: {
      title: '콘솔 화면에서 보낸 요청이 아닙니다.',
      hint: '콘솔을 새 창에서 열고 다시 시도해 주세요.',
    },
    'lapsed password': {
      title: '최초 비밀번호의 유효 기간이 지났습니다.',
      hint: '기간 안에 변경하지 않아 더 이상 사용할 수 없습니다. 관리자에게 새 비밀번호를 요청해 주세요.',
    },
    'wrong passwords': { title: '비밀번호를 여러 번 잘못 입력했습니다.', hint: '잠시 후 다시 시도해 주세요.' },
    'signing in': { title: '로그인 요청이 많습니다.', hint: '잠시 후 다시 시도해 주세요.' },
    'console busy': {
      title: '콘솔에 요청이 많습니다.',
      hint: '처리된 작업은 없습니다. 잠시 후 다시 시도해 주세요.',
    },
  },

  fields: {
    reason: '사유: 한 줄로 3~200자',
    name: '이름: 한 줄로 1~100자',
    password: '비밀번호: 200자 이하',
    current: '현재 비밀번호: 올바르지 않습니다.',
    next: '새 비밀번호: 12~200자, 현재 비밀번호와 다르게',
    credits: '크레딧: 화면에 안내된 범위의 정수',
    value: '값: 서비스 이름, 키·사용자는 공백 없는 영문·숫자·기호 1~200자',
    warnAt: '알림 기준: 1부터 예산 크레딧까지의 정수',
    url: 'URL: 외부에서 접속할 수 있는 https 주소(사용자, 비밀번호, # 제외)',
    types: '이벤트 종류: 목록에 있는 값',
    from: '시작일: 실제로 있는 날짜, 미래나 너무 오래된 날짜 제외',
    to: '종료일: 실제로 있는 날짜, 시작일 이후로 너무 길지 않게',
    q: '검색어: 비우지 말고 한 줄로 짧게',
    cursor: '목록이 바뀌었습니다. 새로 고침해 주세요.',
    status: '상태: 목록에 있는 값',
    state: '상태: 목록에 있는 값',
    subject: '대상: 한 줄로 100자 이하',
    customerId: '고객: 고객 ID',
    days: '기간: 목록에 있는 값',
    packageType: '상품: 목록에 있는 값',
    failure: '사유: 목록에 있는 값',
    sort: '정렬: 목록에 있는 값',
  },

  deliveries: {
    answered: (status) => `엔드포인트 응답 HTTP ${status}`,
    notSecure: (scheme) => `엔드포인트 URL이 ${scheme} 주소가 아님`,
    port: (port) => `엔드포인트 URL의 포트가 443도 1024 이상도 아님: ${port}`,
    notPublic: (host) => `공인 IP 주소가 아님: ${host}`,
    sealed: (version) => `서명 키가 KEY_PEPPER에 없는 ${version}번 시크릿으로 암호화되어 있음`,
    errors: {
      'not sent: there was no time left': '시간이 부족해 전송하지 않음',
      'not sent: the one before it was not taken': '앞선 이벤트가 전송되지 않아 전송하지 않음',
      'the endpoint is disabled': '비활성화된 엔드포인트',
      'the endpoint has been removed': '삭제된 엔드포인트',
      'the URL has a user or a password': '엔드포인트 URL에 사용자 이름이나 비밀번호가 있음',
      'Unsupported state or unable to authenticate data': '서명 키를 KEY_PEPPER로 복호화하지 못함',
      TimeoutError: '엔드포인트가 제시간에 응답하지 않음',
      UND_ERR_CONNECT_TIMEOUT: '엔드포인트에 제시간에 연결하지 못함',
      UND_ERR_SOCKET: '엔드포인트가 연결을 끊음',
      ECONNREFUSED: '엔드포인트가 연결을 받지 않음',
      ECONNRESET: '엔드포인트가 연결을 끊음',
      ENOTFOUND: '엔드포인트 주소를 찾을 수 없음',
      EAI_AGAIN: '엔드포인트 주소를 조회하지 못함',
      EHOSTUNREACH: '엔드포인트에 연결할 수 없음',
      ENETUNREACH: '엔드포인트에 연결할 수 없음',
      ETIMEDOUT: '엔드포인트에 제시간에 연결하지 못함',
      CERT_HAS_EXPIRED: '엔드포인트 인증서가 만료됨',
      DEPTH_ZERO_SELF_SIGNED_CERT: '엔드포인트 인증서를 신뢰할 수 없음',
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: '엔드포인트 인증서를 신뢰할 수 없음',
      ERR_TLS_CERT_ALTNAME_INVALID: '엔드포인트 인증서가 다른 호스트용임',
    },
  },
}
