// The gateway's list of captures and refunds, page by page: GET /v1/transactions. Times are sent in Korean time without an
// offset and returned with one. The sign of a cancel's amount is not documented, so the status decides the direction.
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { Movement, MovementPage, MovementQuery, Unknown } from '../gateway.ts'
import { printableText } from './printable-text.ts'

/** The gateway allows 5,000; smaller pages keep the memory of a long run small. */
const pageSize = 1_000

const koreanOffsetMs = 9 * 3_600_000

const Row = Type.Object({
  transactionKey: printableText,
  paymentKey: printableText,
  orderId: printableText,
  status: printableText,
  transactionAt: printableText,
  amount: Type.Number(),
})
const rowsShape = Compile(Type.Array(Row))

export function movementQuery({ from, to, after }: MovementQuery): Record<string, string> {
  const page = { startDate: koreanTime(from), endDate: koreanTime(to), limit: `${pageSize}` }
  return after === null ? page : { ...page, startingAfter: after }
}

function koreanTime(time: Date): string {
  return new Date(time.getTime() + koreanOffsetMs).toISOString().slice(0, 19)
}

const directions: ReadonlyMap<string, Movement['direction']> = new Map([
  ['DONE', 'CAPTURE'],
  ['CANCELED', 'CANCEL'],
  ['PARTIAL_CANCELED', 'CANCEL'],
])

/** A status that moves no money, such as a virtual account that waits for its deposit, is left out. */
export function readMovements(body: unknown): MovementPage | Unknown {
  if (!rowsShape.Check(body)) return { kind: 'unknown', code: 'UNREADABLE_TRANSACTIONS' }
  const movements = body.flatMap((row): Movement[] => {
    const { transactionKey, paymentKey, orderId, status, transactionAt } = row
    const direction = directions.get(status)
    const amount = Math.abs(row.amount)
    const movedAt = new Date(transactionAt)
    return direction ? [{ transactionKey, paymentKey, orderId, direction, amount, movedAt }] : []
  })
  const unreadable = movements.some(
    ({ movedAt, amount }) => Number.isNaN(movedAt.getTime()) || !Number.isSafeInteger(amount),
  )
  if (unreadable) return { kind: 'unknown', code: 'UNREADABLE_TRANSACTIONS' }
  return { kind: 'page', movements, next: body.length < pageSize ? null : (body.at(-1)?.transactionKey ?? null) }
}
