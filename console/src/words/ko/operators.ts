// Texts of the page of operators, in Korean.
import type { operators as english } from '../en/operators.ts'

export const operators: typeof english = {
  title: '운영자',
  caption: '운영자 목록',
  name: '이름',
  role: '역할',
  status: '상태',
  lastSeen: '최근 접속',
  created: '등록 시각',
  passwordSet: '비밀번호 설정',
  firstPassword: '최초 비밀번호 (변경 필요)',
  never: '없음',
  empty: '등록된 운영자가 없습니다.',
  rolesTitle: '역할별 권한',
  permission: '권한',
  may: '가능',
  mayNot: '불가',
  permissions: {
    read: '전체 조회',
    settle: '주문을 PG사와 동기화',
    'resend events': '주문 이벤트 재전송',
    'manage customers': '고객 등록, 한도 설정',
    'suspend keys': '키 정지',
    'issue keys': '키 발급·교체·활성화, 키를 포함한 고객 등록',
    refund: '주문 환불, 부분 취소 반영, 결제 키 전체 보기',
    reconcile: 'PG사 대사',
    'resolve discrepancies': '불일치 해결 처리',
    export: 'CSV 내보내기',
    'see operators': '운영자 조회',
  },
  manageTitle: '운영자 관리 방법',
  manageText:
    '운영자는 데이터베이스에 접근할 수 있는 서비스 서버의 명령줄에서 관리합니다. 모든 명령은 감사 로그에 남습니다.',
  commandOf: {
    add: '운영자를 등록합니다. 최초 비밀번호는 한 번만 표시되며 첫 로그인 때 변경해야 합니다.',
    role: '역할을 변경합니다. 다음 요청부터 바로 적용됩니다.',
    reset: '새 최초 비밀번호를 발급하고 모든 세션을 종료합니다.',
    suspend: '모든 세션을 즉시 종료하고 로그인을 막습니다.',
    activate: '정지된 운영자를 다시 활성화합니다.',
  },
}
