// Receipts: the entries of an order, of a reference, or of a part of the statement, each with the proof that it is in the
// transparency log, and the signed checkpoint that all proofs lead to. The entries are chosen first, and never change
// afterwards: a receipt is right whatever happens between the two reads.
import { customerIdPattern, orderIdPattern } from '../../core/ids.ts'
import { customerNotFound } from '../../credits/refusals.ts'
import { referencePattern } from '../../credits/schemas.ts'
import type { Database } from '../../db/database.ts'
import { type ProvenEntries, receiptOfEntries } from '../log.ts'
import type { LogSigner } from '../note.ts'
import { findLastEntry, findOrderEntries, findReferenceEntries } from './receipts.sql.ts'
import { receiptEntriesAtMost, receiptRefusals } from './refusals.ts'

export type ReceiptContext = { database: Database; signer: LogSigner }

export type ReceiptSubject =
  | { order: string }
  | { reference: string; customer: string }
  | { statement: { customer: string; from: number; to: number } }

/** The format is that of docs/receipts.md: `credits verify` and programs of others read it. */
export type Receipt = { format: 'prepaid-credits/receipt/v1'; subject: ReceiptSubject } & ProvenEntries

/** The worker adds entries to the log within seconds. */
export type NewReceipt = Receipt | 'not logged yet'

/** Text that is no id identifies nothing, here and below. */
export async function receiptOfOrder(
  context: ReceiptContext,
  key: { customerId: string; orderId: string },
): Promise<NewReceipt> {
  const isKey = customerIdPattern.test(key.customerId) && orderIdPattern.test(key.orderId)
  const found = isKey ? await findOrderEntries(context.database, key) : null
  if (!found) throw receiptRefusals.orderNotFound()
  if (found.length === 0) throw receiptRefusals.orderWithoutEntries()
  return receiptOf(context, key.customerId, { order: key.orderId }, found)
}

export async function receiptOfReference(
  context: ReceiptContext,
  key: { customerId: string; reference: string },
): Promise<NewReceipt> {
  const isKey = customerIdPattern.test(key.customerId) && referencePattern.test(key.reference)
  const found = isKey ? await findReferenceEntries(context.database, key, receiptEntriesAtMost + 1) : null
  if (!found) throw receiptRefusals.referenceNotFound()
  if (found.length > receiptEntriesAtMost) throw receiptRefusals.tooManyEntries()
  const subject = { reference: key.reference, customer: key.customerId }
  return receiptOf(context, key.customerId, subject, found)
}

/** Entry numbers, both included. */
export type StatementPart = { customerId: string; from: number; to: number }

export async function receiptOfStatement(context: ReceiptContext, part: StatementPart): Promise<NewReceipt> {
  const { customerId, from, to } = part
  if (to < from) throw receiptRefusals.endsBeforeItBegins()
  if (to - from >= receiptEntriesAtMost) throw receiptRefusals.tooLong()
  const lastEntry = customerIdPattern.test(customerId) ? await findLastEntry(context.database, customerId) : null
  if (lastEntry === null) throw customerNotFound()
  if (to > lastEntry) throw receiptRefusals.entriesNotFound(lastEntry)
  const numbers = Array.from({ length: to - from + 1 }, (_, place) => from + place)
  return receiptOf(context, customerId, { statement: { customer: customerId, from, to } }, numbers)
}

async function receiptOf(
  { database, signer }: ReceiptContext,
  customerId: string,
  subject: ReceiptSubject,
  entryNumbers: number[],
): Promise<NewReceipt> {
  const proven = await receiptOfEntries(database, signer, customerId, entryNumbers)
  return proven === 'not logged yet' ? proven : { format: 'prepaid-credits/receipt/v1', subject, ...proven }
}

/** For callers who can repeat the request. */
export function requireLogged(receipt: NewReceipt): Receipt {
  if (receipt === 'not logged yet') throw receiptRefusals.notLoggedYet()
  return receipt
}

/** As it is saved: the receipt alone, in lines that people can read. */
export function receiptText(receipt: Receipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`
}
