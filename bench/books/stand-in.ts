// Stands in for the gateway while the books are reconciled: its list of transactions, a page at a time straight from
// the database, and one payment as the sum of its movements. Nothing is kept in memory, so that a million rows cost the
// measuring process nothing. Times are in Korean time, as the gateway's.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

const defaultLimit = 100
const largestLimit = 5_000
const datePattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d)?$/

const koreanTime = `to_char(moved_at at time zone 'Asia/Seoul', 'YYYY-MM-DD"T"HH24:MI:SS"+09:00"')`

const pageText = `
  select 'standin' as "mId", transaction_key as "transactionKey", payment_key as "paymentKey", order_id as "orderId",
         '카드' as "method", null as "customerKey", false as "useEscrow", null as "receiptUrl", status,
         ${koreanTime} as "transactionAt", 'KRW' as "currency", amount::float8 as "amount"
  from standin.movements
  where moved_at >= ($1 || '+09')::timestamptz and moved_at < ($2 || '+09')::timestamptz + interval '1 second'
    and ($3::text is null
         or (moved_at, transaction_key) > ((select moved_at from standin.movements where transaction_key = $3), $3))
  order by moved_at, transaction_key
  limit $4`

const paymentText = `
  select payment_key as "paymentKey", min(order_id) as "orderId", 'KRW' as "currency", '카드' as "method",
         case when bool_or(status = 'CANCELED') then 'CANCELED' else 'DONE' end as "status",
         max(amount)::float8 as "totalAmount",
         (case when bool_or(status = 'CANCELED') then 0 else max(amount) end)::float8 as "balanceAmount",
         (array_agg(transaction_key order by moved_at desc))[1] as "lastTransactionKey",
         json_agg(json_build_object('transactionKey', transaction_key, 'cancelAmount', amount, 'cancelStatus', 'DONE'))
           filter (where status = 'CANCELED') as "cancels"
  from standin.movements where payment_key = $1 group by payment_key`

export type StandIn = { url: string; requests: { pages: number; payments: number }; close(): Promise<void> }

export async function startStandIn(connection: pg.PoolConfig): Promise<StandIn> {
  const pool = new pg.Pool({ ...connection, max: 4 })
  const requests = { pages: 0, payments: 0 }

  async function listTransactions(query: URLSearchParams, response: ServerResponse): Promise<void> {
    requests.pages += 1
    const [startDate, endDate] = [query.get('startDate') ?? '', query.get('endDate') ?? '']
    const limit = Number(query.get('limit') ?? defaultLimit)
    if (!datePattern.test(startDate) || !datePattern.test(endDate)) return refuse(response, 400, 'INVALID_DATE')
    if (!(limit >= 1 && limit <= largestLimit)) return refuse(response, 400, 'EXCEED_MAX_QUERY_LIMIT')
    const { rows } = await pool.query({
      name: 'page',
      text: pageText,
      values: [startDate, endDate, query.get('startingAfter'), limit],
    })
    answer(response, 200, rows)
  }

  async function showPayment(paymentKey: string, response: ServerResponse): Promise<void> {
    requests.payments += 1
    const { rows } = await pool.query({ name: 'payment', text: paymentText, values: [paymentKey] })
    return rows[0] ? answer(response, 200, rows[0]) : refuse(response, 404, 'NOT_FOUND_PAYMENT')
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in')
    const [, paymentKey] = /^\/v1\/payments\/([^/]+)$/.exec(pathname) ?? []
    const answered =
      request.method !== 'GET'
        ? Promise.resolve(refuse(response, 500, 'NOT_STAGED_HERE'))
        : pathname === '/v1/transactions'
          ? listTransactions(searchParams, response)
          : paymentKey
            ? showPayment(decodeURIComponent(paymentKey), response)
            : Promise.resolve(refuse(response, 404, 'NOT_FOUND'))
    answered.catch((error: Error) => refuse(response, 500, error.message))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await pool.end()
    },
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, status: number, code: string): void {
  answer(response, status, { code, message: code })
}
