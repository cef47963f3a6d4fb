// What is kept of the payment of an approved confirm: the card slip, and how it was paid.

import { type PaidColumns, paidColumnsOf } from '../core/paid-with.ts'
import { paidWithJson } from '../credits/lots/lots.sql.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { CardSlip, Slip } from '../gateway/gateway.ts'

export const noSlip: Slip = { receiptUrl: null, cardNumber: null, approvalNumber: null, paidWith: null }

export const cardSlipColumns = (confirm: Sql) => sql`
  ${confirm}.receipt_url as "receiptUrl", ${confirm}.card_number as "cardNumber",
  ${confirm}.approval_number as "approvalNumber"`

/** The same as members of a JSON object. */
export const cardSlipMembers = (confirm: Sql) => sql`
  'receiptUrl', ${confirm}.receipt_url, 'cardNumber', ${confirm}.card_number,
  'approvalNumber', ${confirm}.approval_number`

export const slipColumns = (confirm: Sql) => sql`${cardSlipColumns(confirm)}, ${paidWithJson(confirm)} as "paidWith"`

export const slipMembers = (confirm: Sql) => sql`${cardSlipMembers(confirm)}, 'paidWith', ${paidWithJson(confirm)}`

/** By the names of the columns. */
export type SlipColumns = CardSlip & PaidColumns

export function columnsOfSlip({ paidWith, ...card }: Slip): SlipColumns {
  return { ...card, ...paidColumnsOf(paidWith) }
}
