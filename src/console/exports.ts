// Files to save: what the pages of the books and the statement of a customer show, as CSV and whole. They are sent in pieces,
// so that little is in memory however long they are, and each is on the trail with how it ended.
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { byteOrderMark, type CsvValue, csvLine } from '../core/csv.ts'
import { refuse } from '../core/errors.ts'
import { leastUuid } from '../core/ids.ts'
import { addDays, koreanDayOf, startOfKoreanDay } from '../core/korean-days.ts'
import { statementRequestOf } from '../credits/routes.ts'
import { StatementQuery } from '../credits/schemas.ts'
import { readAccount } from '../credits/statement.sql.ts'
import { statementCsv } from '../credits/statement-csv.ts'
import type { Database } from '../db/database.ts'
import { recorded, type Trail } from '../operators/action-log.ts'
import { operationKinds } from '../payments/kinds.ts'
import { type DiscrepancyState, listDiscrepancies, listPayments } from './books/books.sql.ts'
import { type DaySpan, readDays, spanOf } from './books/books.ts'
import { DaysQuery, DiscrepanciesQuery } from './books/contract.ts'
import { apiPath, exports as files } from './endpoints.ts'
import type { Gate } from './gate.ts'
import type { Guard } from './guard.ts'
import type { ConsoleParts } from './parts.ts'
import { actorOf, namedOf } from './routes.ts'
import { CustomerParams } from './schema-words.ts'

const pageSize = 5_000

type ExportParts = Pick<ConsoleParts, 'background'> & { guard: Guard; trail: Trail }

type File = {
  name: string
  /** Of the file, for the trail. */
  subject: string | null
  pieces: AsyncIterable<string>
}

type Exported = { command: string; named: string[] }

type FileOf = (asked: { params: Record<string, string>; query: Record<string, string> }) => File | Promise<File>

export function exportRoutes(app: FastifyInstance, { background, guard, trail }: ExportParts): void {
  const { database } = background
  const { saving } = guard.gates
  function route(
    name: keyof typeof files,
    schema: { querystring: Type.TSchema; params?: object },
    fileOf: FileOf,
  ): void {
    app.get(`${apiPath}${files[name]}`, {
      config: { open: true, documented: 'no API' },
      schema,
      onRequest: guard.onRequest('export'),
      async handler(request, reply) {
        const asked = request as FastifyRequest<{ Params: Record<string, string>; Querystring: Record<string, string> }>
        const file = await saving.enter(async () => fileOf(asked))
        const pieces = oneByOne(saving, file.pieces)
        const action = { command: `export ${name}`, named: namedOf(schema.querystring, asked.query) }
        return send(trail, action, { ...file, pieces }, request, reply)
      },
    })
  }

  route('days', { querystring: DaysQuery }, ({ query }) => {
    const span = spanOf(query)
    return { name: `days-${span.from}-${span.to}`, subject: null, pieces: daysCsv(database, span) }
  })
  route('payments', { querystring: DaysQuery }, ({ query }) => {
    const span = spanOf(query)
    return { name: `payments-${span.from}-${span.to}`, subject: null, pieces: paymentsCsv(database, span) }
  })
  const StateQuery = Type.Pick(DiscrepanciesQuery, ['state'])
  route('discrepancies', { querystring: StateQuery }, ({ query }) => {
    const state = (query.state ?? 'open') as DiscrepancyState
    return { name: `discrepancies-${state}`, subject: null, pieces: discrepanciesCsv(database, state) }
  })
  const SpanQuery = Type.Pick(StatementQuery, ['from', 'to', 'kind'])
  route('statement', { params: CustomerParams, querystring: SpanQuery }, async ({ params, query }) => {
    const wanted = statementRequestOf(`${params.customerId}`, query)
    const { customerId } = wanted
    if (!(await readAccount(database, customerId))) throw refuse('NOT000', { message: 'There is no such customer.' })
    return { name: `statement-${customerId}`, subject: customerId, pieces: statementCsv(database, wanted) }
  })
}

/** A place is held while a piece is made, not while its reader takes it. */
async function* oneByOne(gate: Gate, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  const made = pieces[Symbol.asyncIterator]()
  for (;;) {
    const piece = await gate.goOn(() => made.next())
    if (piece.done) return
    yield piece.value
  }
}

/** Nothing leaves before the beginning is on the trail. One that its reader has broken off has not ended well. */
async function send(trail: Trail, asked: Exported, file: File, request: FastifyRequest, reply: FastifyReply) {
  const { name, subject } = file
  const stream = Readable.from(withMark(file.pieces), { objectMode: false })
  const begun = Promise.withResolvers<void>()
  const { command, named } = asked
  const action = { actor: actorOf(request), command, arguments: [...(subject ? [subject] : []), ...named] }
  const ended = recorded(trail, { ...action, subject, reason: null }, async () => {
    begun.resolve()
    await finished(stream)
    return null
  })
  // The framework tells the reader by cutting the answer short, and the log.
  ended.catch(begun.reject)
  await begun.promise
  return reply
    .header('content-type', 'text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(stream)
}

async function* withMark(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield byteOrderMark
  for await (const piece of pieces) if (piece !== '') yield piece
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
  let behind = { place: (startOfKoreanDay(from) as Date).toISOString(), operationId: leastUuid }
  for (;;) {
    const page = await listPayments(database, before, behind, pageSize)
    yield page
      .map(({ closedAt, orderId, customerId, kind, amount, paymentKey, transactionKey }) => {
        const what = [orderId, customerId, kind, operationKinds[kind].revenueSign * amount, paymentKey, transactionKey]
        return csvLine([closedAt, koreanDayOf(closedAt), ...what])
      })
      .join('')
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    behind = last
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
  for (let behind: string | null = null; ; ) {
    const page = await listDiscrepancies(database, state, behind, pageSize)
    yield page
      .map((row) => csvLine([row.discrepancyId, ...names.map((name) => row[name]), JSON.stringify(row.detail)]))
      .join('')
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    behind = last.discrepancyId
  }
}
