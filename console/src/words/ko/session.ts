// Texts of signing in and of changing a password, in Korean.
import type { session as english } from '../en/session.ts'

export const session: typeof english = {
  title: '로그인',
  text: '서비스 운영 담당자 전용입니다.',
  name: '이름',
  password: '비밀번호',
  showPassword: '비밀번호 표시 또는 숨기기',
  action: '로그인',
  wrong: '이름 또는 비밀번호가 올바르지 않습니다.',
  pause: (seconds) => `비밀번호를 여러 번 잘못 입력했습니다. ${seconds}초 후에 다시 시도해 주세요.`,
  signOutFailed: '로그아웃하지 못해 아직 로그인된 상태입니다. 다시 시도해 주세요.',
  ended: '세션이 종료되었습니다',
  endedText:
    '다시 로그인하면 입력하던 내용이 그대로 남아 있습니다. 비밀번호가 재설정되었다면 새 비밀번호로 로그인해 주세요.',
  passwordTitle: '비밀번호 변경',
  firstText: '최초 비밀번호는 변경해야 합니다. 새 비밀번호를 설정해 주세요.',
  current: '현재 비밀번호',
  next: '새 비밀번호',
  nextHint: '12자 이상. 단어보다 문장이 기억하기 쉽습니다.',
  tooShort: '12~200자로 입력해 주세요.',
  again: '새 비밀번호 확인',
  different: '두 비밀번호가 서로 다릅니다.',
  sameAsBefore: '현재 비밀번호와 같습니다.',
  wrongCurrent: '현재 비밀번호가 올바르지 않습니다.',
  save: '비밀번호 저장',
  saved: '비밀번호를 변경했습니다. 다른 세션은 로그아웃되었습니다.',
}
