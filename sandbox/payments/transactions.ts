// GET /v1/transactions: the list a shop reconciles its books with. One row for each approval and each cancel, filtered
// and ordered by the time of the movement; a page begins after the last transactionKey of the one before.

import type { Behaviour } from '../faults/behaviour.ts'
import type { ErrorCode } from '../protocol/errors.ts'
import type { Moved, Movements } from './movements.ts'
import { receiptUrl } from './payment-object.ts'
import { merchantId, type Outcome, refused } from './payments.ts'

const defaultLimit = 100
const maxLimit = 5000

type Refusal = { code: ErrorCode; message: string }

export function listTransactions(movements: Movements, behaviour: Behaviour, query: Record<string, unknown>): Outcome {
  const from = readTime('startDate', query.startDate)
  if (typeof from !== 'number') return refused(from.code, from.message)
  const to = readTime('endDate', query.endDate)
  if (typeof to !== 'number') return refused(to.code, to.message)
  if (to < from) return refused('INVALID_DATE', 'endDate: expected a time after startDate.')

  const limit = /^\d{1,9}$/.test(String(query.limit ?? defaultLimit)) ? Number(query.limit ?? defaultLimit) : 0
  if (limit < 1) return refused('INVALID_REQUEST', 'limit: expected 1 to 5000.')
  if (limit > maxLimit) return refused('EXCEED_MAX_QUERY_LIMIT')

  const { startingAfter } = query
  const after = startingAfter === undefined ? undefined : movements.find(String(startingAfter))
  if (startingAfter !== undefined && after === undefined) return refused('INVALID_TRANSACTION_KEY')

  const rows = movements.between(from, to, after, limit).map((moved) => transactionRow(moved, behaviour))
  return { changed: [], answer: { status: 200, rows } }
}

const timePattern = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d))?$/

/** Korean time, a date alone is its first second. */
function readTime(name: string, value: unknown): number | Refusal {
  if (value === undefined || value === '') return { code: 'INVALID_REQUEST', message: `${name} is required.` }
  const [, date, time = '00:00:00'] = timePattern.exec(String(value)) ?? []
  if (date === undefined) {
    return { code: 'INVALID_ISO_DATE_FORMAT', message: `${name}: expected yyyy-MM-dd or yyyy-MM-ddTHH:mm:ss.` }
  }
  const utc = new Date(`${date}T${time}Z`)
  // 30 February parses, as 2 March.
  const exists = !Number.isNaN(utc.getTime()) && utc.toISOString().startsWith(`${date}T${time}`)
  return exists
    ? utc.getTime() - 9 * 3600_000
    : { code: 'INVALID_DATE', message: `${name}: there is no such day or time.` }
}

function transactionRow({ movement, payment }: Moved, behaviour: Behaviour) {
  const sign = movement.kind === 'cancel' && behaviour.cancelRowSign === 'negative' ? -1 : 1
  return {
    mId: merchantId,
    transactionKey: movement.transactionKey,
    paymentKey: movement.paymentKey,
    orderId: movement.orderId,
    method: payment.method,
    customerKey: payment.customerKey ?? null,
    useEscrow: false,
    receiptUrl: receiptUrl(payment),
    status: payment.status,
    transactionAt: movement.at,
    currency: 'KRW',
    amount: sign * movement.amount,
  }
}
