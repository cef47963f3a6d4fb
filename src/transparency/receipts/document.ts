// The receipt endpoints of the internal API for the API document. The example is a real receipt of a log with three entries: it
// can be verified.
import { customerNotFound } from '../../credits/refusals.ts'
import { type Documented, missing, notAllowed, type Refused, refused } from '../../http/documented.ts'
import { success } from '../../http/envelope.ts'
import type { Receipt, ReceiptSubject } from './receipts.ts'
import { receiptRefusals } from './refusals.ts'
import { EntryNumber } from './schemas.ts'

const customerId = '5509d75f-dfe0-4984-9be9-f02d7cdb5de6'
const orderId = 'ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C'

const grantLeaf = [
  'prepaid-credits/entry/v1',
  `customer ${customerId}`,
  'entry 1',
  'time 2026-11-15T11:05:45.863123Z',
  'kind GRANT',
  'delta 110',
  'balance 110',
  'held-delta 0',
  'held 0',
  `order ${orderId}`,
].join('\n')
const spendLeaf = [
  'prepaid-credits/entry/v1',
  `customer ${customerId}`,
  'entry 2',
  'time 2026-11-15T11:06:12.040518Z',
  'kind SPEND',
  'delta -5',
  'balance 105',
  'held-delta 0',
  'held 0',
  'reference analysis-4711',
  'service svc_3kQ9ZrT1mWcX7bLpD2vN',
].join('\n')

const grant = {
  leaf: grantLeaf,
  index: '1',
  proof: ['Ife2Ks/fy+/PNnQratCVGnLGYUKb7UOficBgGxUhYCY=', '/Xm7szk8Ad5mLhjW+gcNGBWjsk1TpSOKIoBWWQfKxVY='],
}
const spend = { leaf: spendLeaf, index: '2', proof: ['mV+RCr13mbks+EEjb4okZA2/UvXK5PnnQbjpti51aRM='] }

const checkpoint = [
  'prepaid-credits/log',
  '3',
  'SUIOJ6JAKyu0vIdotu28HvOwUN9uq/aA75doHOh0/64=',
  '',
  '— prepaid-credits/log CnB3/kLsnLl/4B1J4ngfaXMguXqryv/1K8IULB0fzWZLHKalu4g22290bQ28feon0KoSBLKUNqcSjAgajZBbaX7NFgw=',
  '',
].join('\n')
const keys = ['prepaid-credits/log+0a7077fe+AbtQPeKJDcgjq5+GuyPpkEV1xfSLdvazzVob18iICwfq']

const answersWith = (subject: ReceiptSubject, entries: Receipt['entries']) => ({
  200: success(
    { format: 'prepaid-credits/receipt/v1', subject, entries, checkpoint, keys } satisfies Receipt,
    'The receipt, for a file.',
  ),
})

const notLogged: Refused = refused(
  'an entry is not in the log yet: repeat the request in two seconds',
  receiptRefusals.notLoggedYet(),
)

const otherKeys: Refused = refused(
  'the processes of the service have other secrets or another name of the log: an operator has to correct that',
  receiptRefusals.signedByOtherKeys(),
)

const heldBack: Refused = refused(
  'the log was restored from a backup: an operator has to rename it',
  receiptRefusals.heldBack(),
)

export const documentedReceipts = {
  order: {
    operationId: 'getOrderReceipt',
    tag: 'Credits',
    summary: 'Get the receipt of an order',
    description:
      'The entries of an order that moved credits, granted and taken back, each with the proof that it is in the ' +
      'transparency log. `data`, saved as a file, can be verified without this service, and stays valid. An entry is in ' +
      'the log a few seconds after it was made.',
    answers: answersWith({ order: orderId }, [grant]),
    refusals: [
      refused('there is no such order of this customer', receiptRefusals.orderNotFound()),
      refused('the order has moved no credits', receiptRefusals.orderWithoutEntries()),
      notLogged,
      otherKeys,
      heldBack,
    ],
  },
  reference: {
    operationId: 'getReferenceReceipt',
    tag: 'Credits',
    summary: 'Get the receipt of a spend or a hold',
    description:
      'The entry with this reference: a spend, a part of a hold, a reversal. The reference of a hold gives all entries of ' +
      'the hold: its parts and its end, too.',
    answers: answersWith({ reference: 'analysis-4711', customer: customerId }, [spend]),
    refusals: [
      refused('the customer has no entry with this reference', receiptRefusals.referenceNotFound()),
      refused('more than 500 entries', receiptRefusals.tooManyEntries()),
      notLogged,
      otherKeys,
      heldBack,
    ],
  },
  statement: {
    operationId: 'getStatementReceipt',
    tag: 'Credits',
    summary: 'Get the receipt of a part of the statement',
    description:
      'All entries of the customer from the number `from` to the number `to`, both included, at most 500. ' +
      '`entryNumber` of the statement has the numbers.',
    answers: answersWith({ statement: { customer: customerId, from: 1, to: 2 } }, [grant, spend]),
    refusals: [
      missing('from'),
      notAllowed('to', EntryNumber),
      refused('it would end before it begins', receiptRefusals.endsBeforeItBegins()),
      refused('more than 500 entries', receiptRefusals.tooLong()),
      refused('there is no such customer', customerNotFound()),
      refused('the customer has fewer entries', receiptRefusals.entriesNotFound(17)),
      refused('the customer has no entries', receiptRefusals.entriesNotFound(0)),
      notLogged,
      otherKeys,
      heldBack,
    ],
  },
} satisfies Record<string, Documented>
