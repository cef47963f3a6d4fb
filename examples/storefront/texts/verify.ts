// The texts of the page that verifies a receipt, in both languages. All of them go into the page: it works when it is saved.

import type { VerifyCode } from '../../../client/src/index.ts'
import type { Language } from './texts.ts'

export type VerifyTexts = typeof en

/** What may also go wrong on the page itself. */
type PageProblem = 'witness' | 'unsupported' | 'not-loaded'

const en = {
  title: 'Verify a receipt',
  text: 'A receipt proves that entries of an account are in a log that can only grow. Your browser checks it by itself: nothing you enter here is sent anywhere, and this page also works when you save it.',
  file: 'Receipt, checkpoint or consistency proof, as a file',
  drop: 'You can also drop the file anywhere on this page.',
  paste: 'Or its content',
  key: 'Key of the log, as you know it (optional)',
  keyHint: 'It looks like this: prepaid-credits/log+3f2a9c1d+ATc2… One key a line; the keys of witnesses too.',
  keyOfShopHint: 'Without a key of a log those of this shop are used.',
  shopKeys: 'Keys of this shop’s log',
  shopKeysText:
    'Receipts are verified with these. Compare them, character by character, with what you were given another way, such as in your contract or by another customer: a false page would show false keys.',
  check: 'Verify',
  needsScript: 'Verifying needs JavaScript.',
  verified: 'Verified',
  notVerified: 'Not verified',
  notReady: 'Not ready yet',
  notReadyText: 'The order is being added to the log. This page tries again by itself.',
  signerNotKnown: 'Consistent, signer not known',
  signerNotKnownText:
    'The key was taken from the receipt itself, where anyone can write one. Nothing was changed since it was signed with this key, and nothing shows that it is the key of the seller: enter the key that you were given another way.',
  keyOfShop: 'It is signed with a key of this shop.',
  kinds: {
    receipt: 'A receipt: the entries below are in the log, unchanged.',
    checkpoint: 'A checkpoint of the log: its signature is right.',
    'consistency proof': 'A consistency proof: the newer log contains everything of the older one, unchanged.',
  },
  what: 'What',
  order: 'Order',
  reference: 'Reference',
  customer: 'Account',
  entries: 'Entries',
  span: 'Entries of the account',
  sum: 'Change in all',
  log: 'Log',
  size: 'Entries in the log',
  signedBy: 'Signed with',
  cosignedBy: 'Witnessed by',
  change: 'Change',
  balance: 'Balance',
  place: 'Place in the log',
  problems: {
    format: 'This is not a receipt, a checkpoint or a consistency proof.',
    encoding: 'A hash, a key or a signature is damaged.',
    key: 'A key is not written correctly.',
    note: 'The checkpoint is damaged.',
    signature: 'A signature is wrong: the checkpoint was changed, or it was not made with this key.',
    'no-key': 'No key that is known here has signed the checkpoint.',
    witness:
      'The witness whose key you gave has not signed this file. Get the receipt again when the next checkpoint is published, or compare with a cosigned checkpoint: credits verify --log.',
    leaf: 'An entry is not as the format says.',
    proof: 'An entry is not in the log as the receipt claims: it was changed, or it was never there.',
    subject: 'The entries are not those that the receipt is about.',
    balance: 'A balance does not follow from the one before.',
    history: 'Two histories: the newer log does not contain the older one. Keep this file.',
    unsupported: 'This browser cannot check the signature here. Use a current browser, and an address with https.',
    'not-loaded': 'The receipt could not be loaded. Open it from your order again, or choose the file.',
  } satisfies Record<VerifyCode | PageProblem, string>,
}

const ko: VerifyTexts = {
  title: '영수증 검증',
  text: '영수증은 계정의 내역이 추가만 가능한 기록에 남아 있음을 증명합니다. 검증은 브라우저에서 이루어지며, 입력한 내용은 어디에도 전송되지 않습니다. 이 페이지를 저장해 두면 저장한 파일에서도 검증할 수 있습니다.',
  file: '영수증, 체크포인트 또는 일관성 증명 파일',
  drop: '파일을 이 페이지 아무 곳에나 끌어다 놓아도 됩니다.',
  paste: '또는 파일 내용',
  key: '알고 있는 기록의 키 (선택)',
  keyHint: '예: prepaid-credits/log+3f2a9c1d+ATc2… 한 줄에 하나씩 입력합니다. 증인의 키도 입력할 수 있습니다.',
  keyOfShopHint: '기록의 키를 입력하지 않으면 이 상점의 키로 확인합니다.',
  shopKeys: '이 상점이 사용하는 기록의 키',
  shopKeysText:
    '영수증은 이 키로 검증합니다. 계약서나 다른 고객처럼 다른 경로로 받은 키와 한 글자씩 비교해 주세요. 가짜 페이지라면 가짜 키를 보여 줄 수 있습니다.',
  check: '검증하기',
  needsScript: '검증하려면 자바스크립트가 필요합니다.',
  verified: '검증되었습니다',
  notVerified: '검증되지 않았습니다',
  notReady: '아직 준비 중입니다',
  notReadyText: '주문을 기록에 추가하고 있습니다. 잠시 후 자동으로 다시 확인합니다.',
  signerNotKnown: '내용은 일치하지만 서명자를 알 수 없습니다',
  signerNotKnownText:
    '영수증에 들어 있는 키로 확인했으며, 그 키는 누구나 써넣을 수 있습니다. 이 키로 서명된 뒤 바뀐 내용은 없지만 판매자의 키라는 증거는 없습니다. 다른 경로로 받은 키를 입력해 주세요.',
  keyOfShop: '이 상점의 키로 서명되었습니다.',
  kinds: {
    receipt: '영수증: 아래 내역이 바뀌지 않은 채 기록에 있습니다.',
    checkpoint: '기록의 체크포인트: 서명이 올바릅니다.',
    'consistency proof': '일관성 증명: 이전 기록의 모든 내용이 바뀌지 않은 채 새 기록에 있습니다.',
  },
  what: '내용',
  order: '주문',
  reference: '참조 번호',
  customer: '계정',
  entries: '내역 수',
  span: '계정의 내역 번호',
  sum: '변동 합계',
  log: '기록',
  size: '기록의 내역 수',
  signedBy: '서명 키',
  cosignedBy: '증인',
  change: '변동',
  balance: '잔액',
  place: '기록에서의 위치',
  problems: {
    format: '영수증, 체크포인트, 일관성 증명이 아닙니다.',
    encoding: '해시, 키 또는 서명이 손상되었습니다.',
    key: '키의 형식이 올바르지 않습니다.',
    note: '체크포인트가 손상되었습니다.',
    signature: '서명이 맞지 않습니다. 체크포인트가 바뀌었거나 이 키로 서명되지 않았습니다.',
    'no-key': '알려진 키로 서명된 체크포인트가 아닙니다.',
    witness:
      '입력한 키의 증인이 이 파일에 서명하지 않았습니다. 다음 체크포인트가 공개된 뒤 영수증을 다시 받거나, credits verify --log로 증인이 서명한 체크포인트와 비교하세요.',
    leaf: '내역의 형식이 올바르지 않습니다.',
    proof: '영수증의 내역이 기록에 없습니다. 내용이 바뀌었거나 처음부터 없던 내역입니다.',
    subject: '영수증이 가리키는 내역이 아닙니다.',
    balance: '잔액이 앞의 잔액과 이어지지 않습니다.',
    history:
      '두 개의 기록이 있습니다. 새 기록에 이전 기록의 내용이 그대로 들어 있지 않습니다. 이 파일을 보관해 주세요.',
    unsupported: '이 브라우저에서는 서명을 확인할 수 없습니다. 최신 브라우저와 https 주소를 이용해 주세요.',
    'not-loaded': '영수증을 불러오지 못했습니다. 주문에서 다시 열거나 파일을 선택해 주세요.',
  },
}

export const verifyTexts: Record<Language, VerifyTexts> = { ko, en }
