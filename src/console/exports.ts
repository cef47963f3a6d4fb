// The routes of the CSV files. They are streamed, and each is in the action log with its outcome.
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { assert } from '../core/assert.ts'
import { byteOrderMark } from '../core/csv.ts'
import { spanOf } from '../core/day-span.ts'
import { refuse } from '../core/errors.ts'
import { addDays, startOfKoreanDay } from '../core/korean-days.ts'
import { requestOfUse, statementRequestOf } from '../credits/routes.ts'
import { StatementQuery, UseQuery } from '../credits/schemas.ts'
import { readAccount } from '../credits/statement/statement.sql.ts'
import { type Action, type ActionLog, recordAction } from '../operators/action-log.ts'
import { DaysQuery, DiscrepanciesQuery } from './books/contract.ts'
import type { DiscrepancyState } from './books/discrepancies.sql.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { ConsoleContext } from './context.ts'
import {
  consoleLiabilityCsv,
  consoleStatementCsv,
  csvOfUse,
  daysCsv,
  discrepanciesCsv,
  type FileLanguage,
  paymentsCsv,
} from './csv/files.ts'
import { languages } from './csv/headings.ts'
import { apiPath, exports as files } from './endpoints.ts'
import type { Guard } from './guard.ts'
import { OrdersFilterQuery } from './orders/contract.ts'
import { filterOf } from './orders/list.ts'
import { ordersCsv } from './orders/orders-csv.ts'
import { actorOf, sentNames } from './routes.ts'
import { CustomerParams } from './schema-types.ts'

type ExportContext = Pick<ConsoleContext, 'background'> & { guard: Guard; actionLog: ActionLog }

type File = {
  name: string
  /** For the action log. */
  subject: string | null
  chunks: AsyncIterable<string>
}

type FileRequest = { params: Record<string, string>; query: Record<string, string>; language: FileLanguage }
type CreateFile = (request: FileRequest) => File | Promise<File>

/** The language of the page. Without it the headings are names for scripts. */
const language = Type.Optional(Type.Enum([...languages], { description: 'en or ko' }))

export function exportRoutes(app: FastifyInstance, { background, guard, actionLog }: ExportContext): void {
  const { database } = background
  const limit = guard.limits.exports
  function route(
    name: keyof typeof files,
    schema: { querystring: Type.TObject; params?: object },
    createFile: CreateFile,
  ): void {
    app.get(`${apiPath}${files[name]}`, {
      config: { open: true, documented: 'no API' },
      schema: { ...schema, querystring: Type.Object({ ...schema.querystring.properties, language }) },
      onRequest: guard.onRequest('export'),
      async handler(request, reply) {
        const { params, query } = request as FastifyRequest<{
          Params: Record<string, string>
          Querystring: Record<string, string>
        }>
        const wanted = { params, query, language: (query.language ?? null) as FileLanguage }
        const file = await limit.run(async () => createFile(wanted))
        const { subject } = file
        const action = {
          actor: actorOf(request),
          command: `export ${name}`,
          arguments: [...(subject ? [subject] : []), ...sentNames(schema.querystring, query)],
          subject,
          reason: null,
        }
        return send(actionLog, action, { ...file, chunks: limited(limit, file.chunks) }, reply)
      },
    })
  }

  async function requireCustomer(customerId: string): Promise<void> {
    if (!(await readAccount(database, customerId))) throw refuse('NOT000', { message: 'There is no such customer.' })
  }

  route('orders', { querystring: OrdersFilterQuery }, ({ query, language }) => {
    const name = ['orders', query.from, query.to].filter((part) => part !== undefined).join('-')
    return { name, subject: null, chunks: ordersCsv(database, language, filterOf(query)) }
  })
  route('days', { querystring: DaysQuery }, ({ query, language }) => {
    const span = spanOf(query)
    return { name: `days-${span.from}-${span.to}`, subject: null, chunks: daysCsv(database, language, span) }
  })
  route('payments', { querystring: DaysQuery }, ({ query, language }) => {
    const span = spanOf(query)
    return { name: `payments-${span.from}-${span.to}`, subject: null, chunks: paymentsCsv(database, language, span) }
  })
  route('liability', { querystring: Type.Pick(DaysQuery, ['to']) }, ({ query, language }) => {
    const { to } = spanOf(query)
    const before = startOfKoreanDay(addDays(to, 1))
    assert(before, `there is a day after ${to}`)
    const name = before > new Date() ? `liability-${to}-so-far` : `liability-${to}`
    return { name, subject: null, chunks: consoleLiabilityCsv(database, language, before) }
  })
  const StateQuery = Type.Pick(DiscrepanciesQuery, ['state'])
  route('discrepancies', { querystring: StateQuery }, ({ query, language }) => {
    const state = (query.state ?? 'open') as DiscrepancyState
    return { name: `discrepancies-${state}`, subject: null, chunks: discrepanciesCsv(database, language, state) }
  })
  route('use', { params: CustomerParams, querystring: UseQuery }, async ({ params, query, language }) => {
    const wanted = requestOfUse(`${params.customerId}`, query)
    const { customerId, from, to } = wanted
    await requireCustomer(customerId)
    return {
      name: `use-${customerId}-${from}-${to}`,
      subject: customerId,
      chunks: csvOfUse(database, language, wanted),
    }
  })
  const SpanQuery = Type.Pick(StatementQuery, ['from', 'to', 'kind'])
  route('statement', { params: CustomerParams, querystring: SpanQuery }, async ({ params, query, language }) => {
    const wanted = statementRequestOf(`${params.customerId}`, query)
    const { customerId } = wanted
    await requireCustomer(customerId)
    return {
      name: `statement-${customerId}`,
      subject: customerId,
      chunks: consoleStatementCsv(database, language, wanted),
    }
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
