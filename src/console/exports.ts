// CSV exports of the books and of a customer's statement. They are streamed, so that memory stays small whatever their length,
// and each is in the action log with its outcome.
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { assert } from '../core/assert.ts'
import { refuse } from '../core/errors.ts'
import { leastUuid } from '../core/ids.ts'
import { addDays, koreanDayOf, startOfKoreanDay } from '../core/korean-days.ts'
import { byteOrderMark, type CsvValue, csvLine } from '../core/text/csv.ts'
import { liabilityCsv } from '../credits/lots/liability-csv.ts'
import { statementRequestOf } from '../credits/routes.ts'
import { StatementQuery } from '../credits/schemas.ts'
import { readAccount } from '../credits/statement/statement.sql.ts'
import { statementCsv } from '../credits/statement/statement-csv.ts'
import type { Database } from '../db/database.ts'
import { type Action, type ActionLog, recordAction } from '../operators/action-log.ts'
import { operationKinds } from '../payments/kinds.ts'
import { listPayments } from './books/books.sql.ts'
import { type DaySpan, readDays, spanOf } from './books/books.ts'
import { DaysQuery, DiscrepanciesQuery } from './books/contract.ts'
import { type DiscrepancyState, listDiscrepancies } from './books/discrepancies.sql.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { ConsoleContext } from './context.ts'
import { apiPath, exports as files } from './endpoints.ts'
import type { Guard } from './guard.ts'
import { OrdersFilterQuery } from './orders/contract.ts'
import { filterOf, ordersCsv } from './orders/list.ts'
import { actorOf, namedOf } from './routes.ts'
import { CustomerParams } from './schema-types.ts'

const pageSize = 5_000

type ExportContext = Pick<ConsoleContext, 'background'> & { guard: Guard; actionLog: ActionLog }

type File = {
  name: string
  /** For the action log. */
  subject: string | null
  chunks: AsyncIterable<string>
}

type CreateFile = (request: { params: Record<string, string>; query: Record<string, string> }) => File | Promise<File>

export function exportRoutes(app: FastifyInstance, { background, guard, actionLog }: ExportContext): void {
  const { database } = background
  const limit = guard.limits.exports
  function route(
    name: keyof typeof files,
    schema: { querystring: Type.TSchema; params?: object },
    createFile: CreateFile,
  ): void {
    app.get(`${apiPath}${files[name]}`, {
      config: { open: true, documented: 'no API' },
      schema,
      onRequest: guard.onRequest('export'),
      async handler(request, reply) {
        const { params, query } = request as FastifyRequest<{
          Params: Record<string, string>
          Querystring: Record<string, string>
        }>
        const file = await limit.run(async () => createFile({ params, query }))
        const { subject } = file
        const action = {
          actor: actorOf(request),
          command: `export ${name}`,
          arguments: [...(subject ? [subject] : []), ...namedOf(schema.querystring, query)],
          subject,
          reason: null,
        }
        return send(actionLog, action, { ...file, chunks: limited(limit, file.chunks) }, reply)
      },
    })
  }

  route('orders', { querystring: OrdersFilterQuery }, ({ query }) => {
    return { name: 'orders', subject: null, chunks: ordersCsv(database, filterOf(query)) }
  })
  route('days', { querystring: DaysQuery }, ({ query }) => {
    const span = spanOf(query)
    return { name: `days-${span.from}-${span.to}`, subject: null, chunks: daysCsv(database, span) }
  })
  route('payments', { querystring: DaysQuery }, ({ query }) => {
    const span = spanOf(query)
    return { name: `payments-${span.from}-${span.to}`, subject: null, chunks: paymentsCsv(database, span) }
  })
  route('liability', { querystring: Type.Pick(DaysQuery, ['to']) }, ({ query }) => {
    const { to } = spanOf(query)
    const before = startOfKoreanDay(addDays(to, 1))
    assert(before, `there is a day after ${to}`)
    return { name: `liability-${to}`, subject: null, chunks: liabilityCsv(database, before) }
  })
  const StateQuery = Type.Pick(DiscrepanciesQuery, ['state'])
  route('discrepancies', { querystring: StateQuery }, ({ query }) => {
    const state = (query.state ?? 'open') as DiscrepancyState
    return { name: `discrepancies-${state}`, subject: null, chunks: discrepanciesCsv(database, state) }
  })
  const SpanQuery = Type.Pick(StatementQuery, ['from', 'to', 'kind'])
  route('statement', { params: CustomerParams, querystring: SpanQuery }, async ({ params, query }) => {
    const wanted = statementRequestOf(`${params.customerId}`, query)
    const { customerId } = wanted
    if (!(await readAccount(database, customerId))) throw refuse('NOT000', { message: 'There is no such customer.' })
    return { name: `statement-${customerId}`, subject: customerId, chunks: statementCsv(database, wanted) }
  })
}

/** Takes a slot of the limit while a chunk is read from the database, not while it is sent. */
async function* limited(limit: ConcurrencyLimit, chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const iterator = chunks[Symbol.asyncIterator]()
  for (;;) {
    const chunk = await limit.runAdmitted(() => iterator.next())
    if (chunk.done) return
    yield chunk.value
  }
}

/** Nothing is sent before the action is in the log. A download that the client aborts is recorded as failed. */
async function send(actionLog: ActionLog, action: Action, { name, chunks }: File, reply: FastifyReply) {
  const stream = Readable.from(withByteOrderMark(chunks), { objectMode: false })
  const begun = Promise.withResolvers<void>()
  const ended = recordAction(actionLog, action, async () => {
    begun.resolve()
    await finished(stream)
    return null
  })
  // On an error the framework cuts the answer short and logs it.
  ended.catch(begun.reject)
  await begun.promise
  return reply
    .header('content-type', 'text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(stream)
}

async function* withByteOrderMark(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield byteOrderMark
  for await (const chunk of chunks) if (chunk !== '') yield chunk
}

async function* daysCsv(database: Database, span: DaySpan): AsyncGenerator<string> {
  const sides = ['gateway', 'books'].flatMap((side) => [`${side}Captured`, `${side}Cancelled`, `${side}Net`])
  yield csvLine(['day', 'state', 'movements', ...sides, 'difference', 'comparedAt', 'reconciliationId'])
  const days = await readDays(database, span)
  const money = (each: { captured: number; cancelled: number; net: number } | null): CsvValue[] =>
    each ? [each.captured, each.cancelled, each.net] : [null, null, null]
  yield days
    .map(({ day, state, movements, gateway, books, difference, comparedAt, reconciliationId }) => {
      const isCompared = gateway !== null
      const figures = [...money(gateway), ...money(books), isCompared ? difference : null]
      return csvLine([day, state, isCompared ? movements : null, ...figures, comparedAt, reconciliationId])
    })
    .join('')
}

async function* paymentsCsv(database: Database, { from, to }: DaySpan): AsyncGenerator<string> {
  yield csvLine(['time', 'day', 'orderId', 'customerId', 'kind', 'krw', 'paymentKey', 'transactionKey'])
  const before = startOfKoreanDay(addDays(to, 1)) as Date
  let after = { place: (startOfKoreanDay(from) as Date).toISOString(), operationId: leastUuid }
  for (;;) {
    const page = await listPayments(database, before, after, pageSize)
    yield page
      .map(({ closedAt, orderId, customerId, kind, amount, paymentKey, transactionKey }) => {
        const values = [
          orderId,
          customerId,
          kind,
          operationKinds[kind].revenueSign * amount,
          paymentKey,
          transactionKey,
        ]
        return csvLine([closedAt, koreanDayOf(closedAt), ...values])
      })
      .join('')
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last
  }
}

async function* discrepanciesCsv(database: Database, state: DiscrepancyState): AsyncGenerator<string> {
  const names = [
    'kind',
    'subject',
    'customerId',
    'orderId',
    'foundAt',
    'lastSeenAt',
    'resolvedAt',
    'resolution',
  ] as const
  yield csvLine(['discrepancyId', ...names, 'detail'])
  for (let after: string | null = null; ; ) {
    const page = await listDiscrepancies(database, state, after, pageSize)
    yield page
      .map((row) => csvLine([row.discrepancyId, ...names.map((name) => row[name]), JSON.stringify(row.detail)]))
      .join('')
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.discrepancyId
  }
}
