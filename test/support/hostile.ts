// The checks of every hostile request: a code of section 7 with its status, the envelope, the headers of every answer, no
// internals in the text, no unexpected writes, and a service that still serves the next caller. Requests are sent as bytes,
// because no client library would send them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { answersUntilClosed, message, type RawAnswer, sendRaw } from '../../harness/raw-http.ts'
import { internals } from '../../proof/stages/bytes/trial/oracles.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { totalCalls } from './service/orders.ts'
import { startTestService, type TestCustomer, type TestService, type TestServiceOptions } from './service/service.ts'

export const base = '/public/v1/payments'
export type Code = ErrorCode | 'SUCCESS'

/** Section 7, repeated here: independent of the service's own table. */
const statuses: Record<ErrorCode, number> = {
  INVALID_API_KEY: 401,
  AUTH001: 401,
  AUTH003: 403,
  VAL001: 400,
  VAL002: 400,
  VAL003: 400,
  VAL004: 400,
  BUS002: 402,
  PAYMENT_CANCEL_FAILED: 400,
  NOT000: 404,
  SVC001: 503,
  INT001: 500,
}

/** Far above the time of any answer: fails only when a request waits for something. */
const limitMs = 5_000
/** For the answers of a file without gateway calls: one may be late on a busy machine, but not half of them. */
const medianLimitMs = 200

export type Written = { orders: number; operations: number; entries: number; events: number; gatewayCalls: number }

export const written = {
  nothing: { orders: 0, operations: 0, entries: 0, events: 0, gatewayCalls: 0 },
  purchase: { orders: 1, operations: 0, entries: 0, events: 0, gatewayCalls: 0 },
  confirm: { orders: 0, operations: 1, entries: 1, events: 1, gatewayCalls: 1 },
  refusedConfirm: { orders: 0, operations: 1, entries: 0, events: 1, gatewayCalls: 1 },
  /** The credits are held, then taken: an entry each. */
  cancel: { orders: 0, operations: 1, entries: 2, events: 1, gatewayCalls: 1 },
} as const satisfies Record<string, Written>

/** The number of rows of every table, and a digest of their content. */
type Books = Map<string, { rows: number; digest: string }>

const countedIn: [name: Exclude<keyof Written, 'gatewayCalls'>, table: string][] = [
  ['orders', 'orders'],
  ['operations', 'payment_operations'],
  ['entries', 'ledger_entries'],
  ['events', 'events'],
]
/** The tables that a purchase, a confirm or a cancel may write; no other table may change. */
const movedTables = ['orders', 'payment_operations', 'ledger_entries', 'events', 'accounts', 'cancel_keys']

export type HostileRow = {
  /** The subject of the title; the expected code follows. */
  what: string
  /** Called when the test runs. */
  request: () => Buffer | Promise<Buffer>
  code: Code
  /** The status of a success; 200 by default. */
  status?: 201
  writes?: Written
  /** Whether the connection has to be closed after the one answer. */
  closes?: boolean
  also?: (answer: RawAnswer) => unknown
}

export type RequestParts = {
  /** Null: none. */
  key?: string | null
  /** The whole line. */
  type?: string | null
  /** Null: no Content-Length. */
  length?: number | null
  lines?: string[]
}

export type HostileWorld = ReturnType<typeof hostileWorld>

/**
 * A service for a test file, started before its tests, and a customer who sends the requests and the health check after each.
 * `prepare` runs in the same hook: a second hook of the file would not wait for this one.
 */
export function hostileWorld(options: TestServiceOptions = {}, prepare: () => Promise<void> = async () => undefined) {
  let service: TestService
  let customer: TestCustomer
  let booksText: string | undefined
  const answeredInMs: number[] = []
  before(async () => {
    service = await startTestService(options)
    customer = await service.newCustomer()
    await prepare()
  })
  after(async () => {
    await service.close()
    const median = answeredInMs.toSorted((left, right) => left - right)[Math.floor(answeredInMs.length / 2)] ?? 0
    assert.ok(median < medianLimitMs, `half of the answers took more than ${median} ms`)
  })

  const keyLine = (key = customer.apiKey) => `service-api-key: ${key}`

  function get(path: string, lines: string[] = []): Buffer {
    return message(`GET ${base}${path}`, ['host: service', keyLine(), ...lines])
  }

  function post(path: string, body: string | Buffer, parts: RequestParts = {}): Buffer {
    const { key, type = 'content-type: application/json', length = Buffer.byteLength(body), lines = [] } = parts
    const head = [
      'host: service',
      ...(key === null ? [] : [keyLine(key)]),
      ...(type === null ? [] : [type]),
      ...(length === null ? [] : [`content-length: ${length}`]),
      ...lines,
    ]
    return message(`POST ${base}${path}`, head, body)
  }

  async function readBooks(): Promise<Books> {
    booksText ??= await readBooksText(service)
    const rows = await service.database.query<{ name: string; rows: number; digest: string }>(booksText)
    return new Map(rows.map(({ name, ...rest }) => [name, rest]))
  }

  /** The rows that the work has added, and its result. If no row was added, no row of any table may have changed. */
  async function observe<Result>(work: () => Promise<Result>): Promise<{ wrote: Written; result: Result }> {
    const then = await readBooks()
    const callsBefore = totalCalls(service)
    const result = await work()
    const gatewayCalls = totalCalls(service) - callsBefore
    const now = await readBooks()
    const added = countedIn.map(([name, table]) => [name, (now.get(table)?.rows ?? 0) - (then.get(table)?.rows ?? 0)])
    const wrote: Written = { ...written.nothing, ...Object.fromEntries(added), gatewayCalls }
    const touched = [...now].filter(([table, { digest }]) => digest !== then.get(table)?.digest).map(([table]) => table)
    const may = Object.values(wrote).every((count) => count === 0) ? [] : movedTables
    assert.deepEqual(
      touched.filter((table) => !may.includes(table)),
      [],
    )
    return { wrote, result }
  }

  async function assertHealthy(): Promise<void> {
    const answer = await sendRaw(service.port, get('/credits'))
    assert.deepEqual([answer.status, answer.body.code], [200, 'SUCCESS'])
  }

  async function send(request: Buffer, closes: boolean): Promise<RawAnswer> {
    if (!closes) return sendRaw(service.port, request)
    const [answer, ...more] = await answersUntilClosed(service.port, request)
    assert.ok(answer, 'closed without an answer')
    assert.deepEqual(more, [])
    return answer
  }

  /** Sends the request and checks all of the above. */
  async function check({ request, code, status, writes = written.nothing, closes = false, also }: HostileRow) {
    const bytes = await request()
    const { wrote, result } = await observe(async () => {
      const startedAt = performance.now()
      return { answer: await send(bytes, closes), tookMs: performance.now() - startedAt }
    })
    const { answer, tookMs } = result
    assert.ok(tookMs < limitMs, 'the answer is late')
    if (wrote.gatewayCalls === 0) answeredInMs.push(tookMs)
    assertAnswer(answer, code, status)
    assert.deepEqual(wrote, writes)
    await also?.(answer)
    await assertHealthy()
  }

  return {
    get service() {
      return service
    },
    get customer() {
      return customer
    },
    keyLine,
    get,
    post,
    observe,
    assertHealthy,
    check,
  }
}

/** One statement over all tables: a digest that does not depend on the order of the rows. */
async function readBooksText({ database }: TestService): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  assert.ok(tables.length > 15, 'the tables are found')
  return tables
    .map(
      ({ name }) => `select '${name}' as name, count(*) as rows,
        coalesce(sum(hashtextextended(each::text, 0)), 0)::text as digest from ${name} each`,
    )
    .join(' union all ')
}

export function assertAnswer(answer: RawAnswer, code: Code, successStatus = 200): void {
  const { status, body, headers, head, text, rest } = answer
  const expected = code === 'SUCCESS' ? successStatus : statuses[code]
  assert.deepEqual([status, body.code], [expected, code], text)
  assert.deepEqual(Object.keys(body), ['success', 'data', 'message', 'code', 'metadata'])
  assert.equal(body.success, code === 'SUCCESS')
  assertHeaders(headers)
  // Its metadata repeats the caller's own texts.
  const own = code === 'PAYMENT_CANCEL_FAILED' ? { ...body, metadata: null } : body
  assert.doesNotMatch(head + JSON.stringify(own), internals)
  assert.equal(rest, '')
}

export function assertHeaders(headers: Headers): void {
  const names = ['content-type', 'cache-control', 'x-content-type-options', 'content-security-policy']
  assert.deepEqual(
    names.map((name) => headers.get(name)),
    ['application/json; charset=utf-8', 'no-store', 'nosniff', "default-src 'none'; frame-ancestors 'none'"],
  )
}

/** One test per row. */
export function hostileTests(world: HostileWorld, rows: HostileRow[]): void {
  for (const row of rows) {
    const { what, code, status = 200, closes } = row
    const outcome = code === 'SUCCESS' ? `served with ${status}` : `${statuses[code]} ${code}`
    test(`${what}: ${outcome}${closes ? ', and the connection closes' : ''}`, () => world.check(row))
  }
}
