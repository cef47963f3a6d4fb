// The columns of the card slip of an approved confirm.
import { type Sql, sql } from '../db/sql.ts'
import type { CardSlip } from '../gateway/gateway.ts'

export const noSlip: CardSlip = { receiptUrl: null, cardNumber: null, approvalNumber: null }

export const slipColumns = (confirm: Sql) => sql`
  ${confirm}.receipt_url as "receiptUrl", ${confirm}.card_number as "cardNumber",
  ${confirm}.approval_number as "approvalNumber"`

/** The same as members of a JSON object. */
export const slipMembers = (confirm: Sql) => sql`
  'receiptUrl', ${confirm}.receipt_url, 'cardNumber', ${confirm}.card_number,
  'approvalNumber', ${confirm}.approval_number`
