// Every refusal of a receipt, but that of an unknown customer (src/credits/refusals.ts): from the situation to code, message and
// metadata. The endpoints throw them, and the examples of the API document are made of them.
import { refuse, refuseFields } from '../../core/errors.ts'

/** Entries of one receipt: more would be an answer of more than a megabyte. */
export const receiptEntriesAtMost = 500

export const receiptRefusals = {
  orderNotFound: () => refuse('NOT000', { message: 'There is no such order of this customer.' }),
  orderWithoutEntries: () => refuse('NOT000', { message: 'The order has moved no credits, so there is no receipt.' }),
  referenceNotFound: () => refuse('NOT000', { message: 'The customer has no entry with this reference.' }),
  entriesNotFound: (lastEntry: number) =>
    refuse('NOT000', {
      message: lastEntry === 0 ? 'The customer has no entries.' : `The last entry of the customer is ${lastEntry}.`,
    }),
  tooManyEntries: () =>
    refuseFields('VAL003', [
      {
        field: 'reference',
        rule: `the hold has more than ${receiptEntriesAtMost} entries: get receipts of the statement instead`,
      },
    ]),
  endsBeforeItBegins: () => refuseFields('VAL003', [{ field: 'to', rule: 'must not be before from' }]),
  tooLong: () =>
    refuseFields('VAL003', [{ field: 'to', rule: `must be at most ${receiptEntriesAtMost - 1} after from` }]),
  // Entries of a busy ledger are in the log within five seconds, which three repeats cover.
  notLoggedYet: () =>
    refuse('SVC001', {
      message: 'An entry of the receipt is not in the log yet. Retry in two seconds.',
      retryAfterSeconds: 2,
    }),
  signedByOtherKeys: () =>
    refuse('SVC001', {
      message: 'The newest checkpoint of the log is signed by other keys than those of KEY_PEPPER and LOG_ORIGIN here.',
      retryAfterSeconds: 2,
    }),
  heldBack: () =>
    refuse('SVC001', {
      message:
        'The log was restored from a backup. It signs nothing until an operator has given it another name (LOG_ORIGIN).',
      retryAfterSeconds: 60,
    }),
}
