// Texts of the audits and of every rule, in Korean.
import type { audits as english } from '../en/audits.ts'

export const audits: typeof english = {
  caption: '장부 감사 이력, 최신순',
  intro:
    '장부의 모든 행이 지켜야 할 규칙을 지키는지 검사한 기록입니다. 매일 밤 워커가 실행하며, audit 명령으로 언제든지 실행할 수 있습니다.',
  ended: '감사 시각',
  cause: '실행 주체',
  causes: { DAILY: '워커 (매일 밤)', COMMAND: '명령' },
  result: '결과',
  clean: '이상 없음',
  broken: (count) => `위반 ${count}건`,
  brokenOnce: '위반 1건',
  unread: '일부 미검사',
  rules: '규칙 수',
  rows: '검사한 행',
  took: '소요 시간',
  empty: '아직 감사 이력이 없습니다. 오늘 밤 워커가 첫 감사를 실행합니다.',

  home: '장부 감사',
  homeClean: (rules, age) => `${age} 전 감사에서 규칙 ${rules}개를 모두 지켰습니다.`,
  homeBroken: (count, rules, age) =>
    `${age} 전 감사에서 규칙 ${rules}개를 검사해 위반 ${count}건을 발견했습니다. 서비스 운영 담당자에게 알려 주세요.`,
  homeUnread: (age) =>
    `${age} 전 감사에서 제한 시간 안에 읽지 못해 검사하지 못한 행이 있습니다. 확인된 이상은 없습니다. 서비스 운영 담당자에게 알려 주세요.`,
  homeOld: '마지막 감사가 이틀이 지났습니다. 매일 밤 실행되어야 할 감사가 빠졌습니다.',
  homeNone: '아직 장부 감사 이력이 없습니다.',
  homeNever: '이틀이 지나도록 감사 이력이 없습니다. 매일 밤 실행되어야 할 감사가 빠졌습니다.',
  none: '이력 없음',
  old: '지연',
  see: '감사 내용 보기',

  one: '장부 감사 결과',
  back: '전체 감사 이력',
  begun: '시작 시각',
  endedAt: '종료 시각',
  checked: '검사 대상',
  kind: '구분',
  kinds: {
    accounts: '계정',
    entries: '원장 항목',
    holds: '보류',
    adjustments: '크레딧 조정',
    orders: '주문',
    operations: 'PG사 결제 작업',
    events: '이벤트',
    usage: '예산 사용량',
    customers: '고객',
    apiKeys: '인증 키',
    serviceTokens: '서비스 토큰',
    operators: '운영자',
    operatorActions: '감사 로그',
    discrepancies: '불일치',
    audits: '장부 감사 이력',
    budgets: '예산',
    eventEndpoints: '이벤트 수신 주소',
    logCheckpoints: '공개된 체크포인트',
    journalEntries: '변경 기록',
    loggedEntries: '투명성 로그 항목',
    publishedCheckpoints: '공개된 체크포인트',
  },
  isClean: '모든 행이 모든 규칙을 지켰습니다.',
  isBroken:
    '장부에 규칙 위반이 있습니다. PG사와의 불일치가 아니라, 서비스가 기록하지 않는 데이터가 데이터베이스에 있는 것입니다. 서비스 운영 담당자에게 알리고, 원인이 확인될 때까지 아래 대상은 환불하지 마세요.',
  isUnread:
    '제한 시간 안에 읽지 못해 검사하지 못한 행이 있습니다. 확인된 이상은 없습니다. 데이터베이스에 부하가 있거나 인덱스가 없어졌을 수 있으니 서비스 운영 담당자에게 알리고, 조치한 뒤 감사를 다시 실행해 주세요.',
  findings: '위반된 규칙',
  subjects: (shown, count) => (shown === count ? `해당 행 ${count}개` : `해당 행 ${count}개 중 처음 ${shown}개`),
  about: '대상',
  where: '위치',
  schema: '데이터베이스 스키마',
  fields: {
    entryNumber: '원장 항목',
    operationId: '결제 작업',
    holdId: '보류',
    eventNumber: '이벤트',
    record: '기록',
    recordNumber: '변경 기록 번호',
    counted: '이전 감사의 행 수',
    kind: '종류',
    table: '테이블',
    name: '이름',
    fault: '이상 내용',
    scan: '구분',
    from: '시작 위치',
    rows: '한 번에 읽은 행',
  },
  values: {
    kind: {
      constraint: '제약 조건',
      'unique index': '고유 인덱스',
      trigger: '트리거',
      column: '열',
      table: '테이블',
      rule: '규칙',
      right: '권한',
      setting: '설정',
      function: '함수',
    },
    fault: {
      'is missing': '없음',
      'is disabled': '비활성화됨',
      'is not validated': '기존 행이 검증되지 않음',
      'is not enforced': '강제되지 않음',
      'is not valid': '유효하지 않음',
      'is not as schema.sql has it': '정의가 다름',
      'is not part of the schema': '스키마에 속하지 않음',
      'has row level security': '행 수준 보안이 켜져 있음',
      'inherits or is inherited': '테이블 상속이 있음',
      'is not an ordinary table': '일반 테이블이 아님',
      'is more than the service needs': '서비스에 필요하지 않은 권한',
      'keeps triggers from firing': '트리거 실행을 막음',
      'gives another hash than it did': '이전과 다른 해시를 계산함',
    },
    table: { 'all tables': '모든 테이블' },
  },
  ruleWords: {
    'the tree of the transparency log is that of its leaves': '투명성 로그의 트리는 그 항목들의 트리와 같다',
    'the checkpoint of the transparency log is that of its tree': '투명성 로그의 체크포인트는 그 트리와 같다',
    'every entry in the transparency log is as the ledger has it': '투명성 로그의 모든 항목은 원장과 같다',
    'every leaf of the transparency log is one entry': '투명성 로그의 각 잎은 원장 항목 하나에 해당한다',
    'the transparency log has passed over no entry': '투명성 로그에 빠진 원장 항목이 없다',
    'every entry is in the transparency log within ten minutes': '모든 원장 항목은 10분 안에 투명성 로그에 기록된다',
    'every checkpoint of the transparency log is signed by its keys, and so is its list of keys':
      '투명성 로그의 모든 체크포인트와 그 키 목록은 로그의 키로 서명되어 있다',
    'every published checkpoint is of the transparency log, with cosignatures of its text':
      '공개된 모든 체크포인트는 투명성 로그의 것이며 공동 서명은 그 내용에 대한 것이다',
    'the transparency log contains the checkpoint that was kept': '투명성 로그는 보관된 체크포인트를 포함한다',
    'every entry of a receipt that was kept is so in ledger and transparency log, at its place':
      '보관된 영수증의 모든 기록은 원장과 투명성 로그의 같은 자리에 그대로 있다',
    'the account knows how much of its balance comes from adjustments, as the ledger left it':
      '계정의 조정 크레딧은 원장이 남긴 값과 같다',
    'credits of adjustments grow by adjustments alone, and are never more than the balance':
      '조정 크레딧은 조정으로만 늘어나며 잔액을 넘지 않는다',
    'an entry of an adjustment is the one that its record names': '조정의 원장 항목은 조정 기록이 가리키는 항목이다',
    'an adjustment has an entry of its kind and credits': '조정에는 같은 종류와 크레딧의 원장 항목이 있다',
    'a cancel or a refund of a part took credits that were paid for, and that no other one had taken':
      '취소와 부분 환불은 결제된 크레딧 가운데 다른 취소나 환불이 가져가지 않은 것만 가져간다',
    'an action that has begun has an end or is open': '시작된 작업은 끝이 기록되었거나 진행 중이다',
    'no more is reversed than was spent': '사용한 것보다 많이 되돌리지 않는다',
    'an adjustment above the limit of one person has the approval of a second one':
      '한 사람의 한도를 넘는 조정은 다른 사람이 승인했다',
    'the balance is what the last entry of the ledger left': '잔액은 원장의 마지막 항목이 남긴 값과 같다',
    'nothing is negative, what is held is covered, and JSON can tell the balance exactly':
      '음수인 값이 없고, 보류된 크레딧은 잔액 안에 있으며, 잔액은 JSON으로 정확히 표현된다',
    'the account knows the number of its last entry': '계정은 마지막 원장 항목의 번호를 알고 있다',
    'the account has not forgotten the time of its last entry': '계정은 마지막 원장 항목의 시각을 알고 있다',
    'the account knows the hash of its last entry': '계정은 마지막 원장 항목의 해시를 알고 있다',
    'what is held is what open operations and active holds have set aside':
      '보류된 크레딧은 처리 중인 작업과 유효한 보류의 합계와 같다',
    'what is held is what the last entry of the ledger left of it':
      '보류된 크레딧은 원장의 마지막 항목이 남긴 값과 같다',
    'an account is marked as restricted when its customer has a budget or is suspended, and only then':
      '고객에게 예산이 있거나 고객이 정지된 경우에만 계정에 제한 표시가 있다',
    'what is used of a budget is not negative, and is of a key or user only where each has the limit for itself':
      '예산 사용량은 음수가 아니며, 키나 사용자마다 한도가 따로 있는 예산에만 키나 사용자별 사용량이 있다',
    'what is used of a budget is of a period that has begun': '예산 사용량의 기간은 이미 시작된 기간이다',
    'a hold is counted in budgets of its customer and of all customers':
      '보류는 해당 고객의 예산과 모든 고객의 예산에만 집계된다',
    'credits.empty has no credits, and what is left of a budget is its limit less its use':
      '크레딧 소진 이벤트의 크레딧은 0이고, 예산 이벤트의 잔여량은 한도에서 사용량을 뺀 값이다',
    'a budget is as its last journal entry has it': '예산은 마지막 변경 기록과 같다',
    'an endpoint of events is as its last journal entry has it': '이벤트 수신 주소는 마지막 변경 기록과 같다',
    'a published checkpoint is as its last journal entry has it': '공개된 체크포인트는 마지막 변경 기록과 같다',
    'every goodwill and correction has an action of its own: of its operator, its customer, its credits':
      '모든 보상과 정정에는 같은 운영자, 고객, 크레딧의 감사 로그가 하나씩 있다',
    'the total of a day is the sum of what it is charged for': '하루 합계는 집계된 조정의 합이다',
    'every goodwill and correction is charged to the day of its operator, or of the one who approved it':
      '모든 보상과 정정은 운영자 또는 승인자의 하루 한도에 집계되어 있다',
    'every approval of an adjustment has the action of its operator, and every such action its approval':
      '모든 조정 승인에는 승인자의 감사 로그가 있고, 승인으로 기록된 조정은 모두 승인되어 있다',
    'every accepted part ends a discrepancy of its order by the action of an operator, with its credits':
      '반영된 모든 부분 취소에는 해당 주문의 불일치와, 같은 크레딧의 감사 로그가 있다',
    'what an accepted part takes more or less than its won stand for is charged to its operator, or to the one who approved it':
      '반영된 부분 취소의 금액보다 더 또는 덜 회수한 크레딧은 운영자 또는 승인자의 하루 한도에 집계되어 있다',
    'every approval of an accepted part has the action of its operator':
      '반영된 부분 취소의 모든 승인에는 승인자의 감사 로그가 있다',
    'the figures of each hour are those of orders, payments and the ledger':
      '시간별 집계는 주문, 결제, 원장과 일치한다',
    'a figure of all time is the sum of its hours': '전체 기간 집계는 시간별 집계의 합과 같다',
    'the figures of each customer are those of their payments': '고객별 집계는 해당 고객의 결제와 일치한다',
    'every refund has an action about its order, or was found cancelled at the gateway':
      '모든 환불에는 해당 주문에 대한 감사 로그가 있거나 PG사에서 취소된 것이 확인되었다',
    'a full refund takes all that is left of the credits of its order':
      '전액 환불은 주문의 남은 크레딧을 모두 회수한다',
    'the account knows the number of its last event': '계정은 마지막 이벤트의 번호를 알고 있다',
    'no queue of events is past its end, and no end past the last event':
      '이벤트 대기열은 끝을 넘지 않고, 그 끝은 마지막 이벤트를 넘지 않는다',
    'every ledger belongs to an account': '모든 원장은 계정에 속한다',
    'the entries of a customer are numbered from one without a gap':
      '고객의 원장 항목은 1부터 빠짐없이 번호가 이어진다',
    'each balance is the one before it plus the credits of the entry':
      '각 잔액은 직전 잔액에 해당 항목의 크레딧을 더한 값이다',
    'what is held after an entry is what was held before it and what the entry sets aside or gives back':
      '항목 이후의 보류 합계는 직전 보류 합계에 그 항목이 보류하거나 해제한 크레딧을 반영한 값이다',
    'the time of an entry is not before that of the one before it': '항목의 시각은 직전 항목보다 이르지 않다',
    'no entry has been changed: its hash is that of the entry and of the hash before it':
      '변경된 항목이 없다: 해시는 그 항목과 직전 해시로 계산한 값과 같다',
    'no balance has ever been negative': '잔액은 한 번도 음수인 적이 없다',
    'what was held was covered by the balance at any time': '보류된 크레딧은 언제나 잔액 안에 있었다',
    'the kind of an entry says what it does to the balance and to what is held, and for what':
      '항목의 종류는 잔액과 보류에 미치는 영향 및 그 사유와 맞는다',
    'an entry names a hold or a service only where its hash covers them':
      '항목은 해시가 보호하는 경우에만 보류나 서비스를 가리킨다',
    'an entry that moves the credits of an order is the one that the order names, or of an accepted part':
      '주문의 크레딧을 움직인 항목은 주문이 가리키는 바로 그 항목이거나 반영된 부분 취소의 항목이다',
    'no reference is used twice': '같은 참조 번호는 두 번 쓰이지 않는다',
    'an entry of a hold is the one that the hold names': '보류의 항목은 보류가 가리키는 바로 그 항목이다',
    'an entry of an operation is about its order and about all that it holds, and ends it as it ended':
      '결제 작업의 항목은 그 주문과 보류 전액에 관한 것이며, 작업이 끝난 방식대로 끝난다',
    'what is set aside is set aside once and ends once': '보류는 한 번만 시작되고 한 번만 끝난다',
    'a hold begins with the entry that sets its credits aside for its service':
      '보류는 해당 서비스를 위해 크레딧을 보류하는 항목으로 시작한다',
    'a hold ends by one later entry, of the kind that its state says, and an active one has not ended':
      '보류는 상태에 맞는 이후 항목 하나로 끝나며, 유효한 보류는 끝나지 않았다',
    'what is captured is part of what was held': '차감된 크레딧은 보류된 크레딧을 넘지 않는다',
    'what was captured of a hold, in parts and at its end, is what its entries took':
      '보류에서 나누어 차감되거나 종료 시 차감된 크레딧은 해당 항목들의 합과 같다',
    'no hold is left active when its time is over': '만료 시각이 지난 보류는 유효 상태로 남아 있지 않다',
    'a CONFIRMED order has one grant of its credits, and nothing was taken back but for accepted parts':
      '결제 완료된 주문은 크레딧이 한 번 지급되었고 반영된 부분 취소 말고는 회수된 것이 없다',
    'a PENDING or FAILED order has moved no credits': '결제 대기 또는 실패 주문은 크레딧을 움직이지 않았다',
    'a CANCELLED order has its grant and one rollback of what accepted parts have left of it':
      '취소된 주문은 반영된 부분 취소를 빼고 남은 크레딧이 한 번 회수되었다',
    'a REFUNDED order has its grant, and a refund and a shortfall that make up for it':
      '환불된 주문은 회수된 크레딧과 부족분의 합이 지급과 같다',
    'no order is credited twice': '같은 주문에 크레딧이 두 번 지급되지 않는다',
    'amount and credits are those of the catalogue': '주문 금액과 크레딧은 상품표와 같다',
    'confirmed_at is set when and only when the order was confirmed, and not before it was created':
      '결제 완료 시각은 결제된 주문에만 있고 주문 생성보다 이르지 않다',
    'confirmed_at is the time of the grant': '결제 완료 시각은 크레딧 지급 시각과 같다',
    'the operations of an order are those its state allows': '주문의 결제 작업은 주문 상태에 맞는 것뿐이다',
    'no idempotency key is on two orders of a customer': '한 고객의 두 주문이 같은 멱등 키를 쓰지 않는다',
    'the balance a confirm was answered with is what its grant left available':
      '결제 승인에 응답한 잔액은 지급 직후 사용할 수 있던 크레딧과 같다',
    'every account belongs to a customer': '모든 계정은 고객에 속한다',
    'every order belongs to an account': '모든 주문은 계정에 속한다',
    'an endpoint that wants the last event of a customer has a queue that reaches it':
      '고객의 마지막 이벤트를 받을 엔드포인트에는 그 이벤트까지 이르는 대기열이 있다',
    'no hold lasts longer than a hold may': '보류 기간은 허용된 최대 기간을 넘지 않는다',
    'a FAILED order has a confirm that was refused or expired':
      '실패한 주문에는 거절되었거나 만료된 결제 승인 작업이 있다',
    'only an approved confirm says how it was paid, and the parts are its amount':
      '결제 수단은 승인된 결제 작업에만 있고, 나뉜 금액의 합은 결제 금액과 같다',
    'only an approved confirm has a card slip, and a card number is masked':
      '매출전표 정보는 승인된 결제 작업에만 있고, 카드 번호는 마스킹되어 있다',
    'a return belongs to a FAILED order, and no payment is returned twice':
      '반환 작업은 실패한 주문에만 있고, 같은 결제를 두 번 반환하지 않는다',
    'the time of an event is not before that of the one before it': '이벤트의 시각은 직전 이벤트보다 이르지 않다',
    'an event about an order has the package, the amount and the credits of the order':
      '주문 이벤트의 상품, 금액, 크레딧은 주문과 같다',
    'an event about an order has the balance and the time of its ledger entry':
      '주문 이벤트의 잔액과 시각은 해당 원장 항목과 같다',
    'an order has one event for each state': '주문의 상태마다 이벤트는 하나뿐이다',
    'an event about few credits has fewer than its threshold': 'credits.low 이벤트의 크레딧은 기준보다 적다',
    'no payment key is on two orders of a customer': '한 고객의 두 주문이 같은 결제 키를 쓰지 않는다',
    'no payment key is approved for two customers': '두 고객의 결제가 같은 결제 키로 승인되지 않는다',
    'a refund returns the full price, the share of the value of the credits that it takes, or what was cancelled at the gateway':
      '환불 금액은 결제 전액, 회수한 크레딧의 금액에 환불 비율을 적용한 금액, PG사에서 취소된 금액 중 하나이다',
    'a refund of the unused part returns what the rule of the day of the confirm allows, and keeps that rule':
      '미사용분 환불 금액은 결제가 승인된 날의 환불 규정에 따른 것이고, 그 규정이 환불에 기록되어 있다',
    'a REFUNDED order says what its refund returned': '환불된 주문은 실제로 환불한 금액을 기록하고 있다',
    'an operation is about an order and its whole amount, a cancel about what accepted parts have left of it':
      '결제 작업은 하나의 주문과 그 전액에 관한 것이고, 취소는 반영된 부분 취소를 뺀 나머지에 관한 것이다',
    'accepted parts return less than the price, and leave a credit for each 1,000 won that are left':
      '반영된 부분 취소의 합은 결제 금액보다 적고, 남은 금액 1,000원마다 크레딧이 하나 이상 남는다',
    'the credits of an accepted part were taken by its entry': '반영된 부분 취소의 크레딧은 그 원장 항목이 회수했다',
    'a refused operation left its order in a state that it could be in':
      '거절된 작업의 주문은 있을 수 있는 상태로 남아 있다',
    'money goes back by the payment key it was captured with': '환불은 승인된 결제 키로 이루어진다',
    'a cancel holds the credits of its order, and a refund what the order says was left of them':
      '취소는 주문의 크레딧을, 환불은 주문에 기록된 남은 크레딧을 보류한다',
    'nothing is stranded: whatever is open has somebody who works on it or will soon':
      '방치된 작업이 없다: 처리 중인 작업은 지금 처리되고 있거나 곧 처리된다',
    'the events of a customer are numbered from one without a gap': '고객의 이벤트는 1부터 빠짐없이 번호가 이어진다',
    'the events of a customer begin after those that were deleted':
      '고객의 이벤트는 삭제된 이벤트 다음 번호부터 시작한다',
    'an event about an order tells what has become of it': '주문 이벤트의 내용은 주문의 결과와 맞는다',
    'a customer is as its last journal entry has it': '고객 정보는 마지막 변경 기록과 같다',
    'an API key is as its last journal entry has it': 'API 키는 마지막 변경 기록과 같다',
    'a service token is as its last journal entry has it': '서비스 토큰은 마지막 변경 기록과 같다',
    'an operator is as its last journal entry has it': '운영자 정보는 마지막 변경 기록과 같다',
    'an operator action is as its last journal entry has it': '감사 로그는 마지막 변경 기록과 같다',
    'a discrepancy is as its last journal entry has it': '불일치 내역은 마지막 변경 기록과 같다',
    'an audit is as its last journal entry has it': '장부 감사 이력은 마지막 변경 기록과 같다',
    'the entries of the journal are numbered from one without a gap': '변경 기록은 1부터 빠짐없이 번호가 이어진다',
    'no journal entry has been changed: its hash is that of the entry and of the hash before it':
      '변경 기록은 수정되지 않았다: 해시는 그 기록과 직전 해시로 계산한 값과 같다',
    'the head of the journal is its last entry': '변경 기록의 끝은 마지막 기록과 같다',
    'every change of a record began with what its last journal entry had':
      '모든 변경은 직전 변경 기록의 내용에서 시작되었다',
    'no record of the journal has been removed': '변경 기록에 있는 행은 삭제되지 않았다',
    'no table has fewer rows than an earlier audit counted': '어떤 테이블의 행도 이전 감사 때보다 줄어들지 않았다',
    "the schema's guards are in place": '데이터베이스의 보호 장치가 모두 갖추어져 있다',
    'the rows can be read in the time a statement has': '제한 시간 안에 모든 행을 읽을 수 있다',
  },
}
