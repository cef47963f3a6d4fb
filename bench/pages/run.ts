// How long the pages of the console take on big books: each is requested many times, one after the other and sixteen at
// once, by a signed-in operator. The figures are added up at the same time, as the worker does.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiPath } from '../../src/console/endpoints.ts'
import { createDatabase } from '../../src/db/database.ts'
import { insertOperator } from '../../src/operators/operators.sql.ts'
import { createPasswords } from '../../src/operators/passwords.ts'
import { createAggregateFigures } from '../../src/payments/books/figures.ts'
import { type BigBooks, openFull } from '../growth/books.ts'
import type { Options } from '../options.ts'
import { percentilesOf } from '../report/figures.ts'
import { logLine } from '../report/progress.ts'
import { publish, short } from '../report/report.ts'
import { fill } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { openStage } from '../stage/stage.ts'
import { takeAll } from '../stage/turns.ts'
import { type Page, pagesOf } from './pages.ts'
import { crowd, type Measured, type PageTimes, reportOf } from './report.ts'
import { addRows } from './rows.ts'

const requestsPerRound = 32
const playedCustomers = 100
const addUpEveryMs = 10_000
const warmRequests = 6

export async function runPages(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  const { server, full } = await openFull(parts, options)
  logLine('Adding discrepancies, actions and names ...')
  await addRows(full.client)
  const addedUp = await addAllUp(full)
  const directory = join(server.directory, 'pages')
  mkdirSync(directory, { recursive: true })
  const books = {
    directory,
    client: full.client,
    // Ended by the code that opened it.
    server: {
      connection: full.connection,
      dataDirectory: server.dataDirectory,
      adopted: true,
      stop: async () => undefined,
    },
    ...(await fill(full.client, playedCustomers)),
  }
  // Pending orders of generated books are older than a day: a worker would expire them.
  const stage = await openStage(parts, ['service'], books, { WORKER: 'off' })
  keepAddingUp(full, parts)
  const base = `http://127.0.0.1:${stage.contenders.service?.listening.internalPort}${apiPath}`
  const readPage = await signIn(base, full)
  const requests = options.rounds * requestsPerRound
  const pages: PageTimes[] = []
  const failures = await takeAll(parts, await pagesOf(full.client), {
    nameOf: ({ name }) => name,
    async take(page) {
      const times = await measure(page, readPage, requests)
      pages.push(times)
      const { p50, p95 } = percentilesOf(times.alone)
      return `${short(p50)} ms, 95 % within ${short(p95)} ms`
    },
  })
  const measured: Measured = { counts: full.counts, requests, addedUp, pages }
  const report = { machine: await machineOf(stage), ...reportOf(measured), failures }
  return publish(options.out, 'pages', report, measured)
}

const silent = { warn: () => undefined, error: () => undefined }

/** Null when it had been done before. */
async function addAllUp({ client }: BigBooks): Promise<Measured['addedUp']> {
  const { rowCount } = await client.query('select from figures_reached')
  const addUp = createAggregateFigures(createDatabase(client, silent))
  const startedAt = performance.now()
  let slices = 0
  while ((await addUp()).more) slices += 1
  const seconds = (performance.now() - startedAt) / 1_000
  logLine(`Added up in ${seconds.toFixed(0)} s, ${slices} slices.`)
  return rowCount === 0 ? { seconds, slices } : null
}

function keepAddingUp({ client }: BigBooks, parts: AsyncDisposableStack): void {
  const ending = new AbortController()
  const addUp = createAggregateFigures(createDatabase(client, silent))
  async function loop(): Promise<void> {
    while (!ending.signal.aborted) {
      await addUp()
      await sleep(addUpEveryMs, undefined, { signal: ending.signal }).catch(() => undefined)
    }
  }
  const ended = loop()
  parts.defer(async () => {
    ending.abort()
    await ended
  })
}

type ReadPage = (path: string) => Promise<number>

/** Returns how long it took; the answer is read to its end, and has to be a success. */
async function signIn(base: string, { client }: BigBooks): Promise<ReadPage> {
  const [name, password] = [`bench-${crypto.randomUUID().slice(0, 8)}`, crypto.randomUUID()]
  const operator = {
    operatorId: `opr_${name}`,
    name,
    role: 'admin' as const,
    passwordHash: await createPasswords().hash(password),
  }
  await insertOperator(createDatabase(client, silent), operator)
  await client.query('update operators set must_change_password = false where name = $1', [name])
  const response = await fetch(`${base}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ name, password }),
  })
  const [cookie = ''] = response.headers.get('set-cookie')?.split(';') ?? []
  if (response.status !== 200)
    throw new Error(`signing in was answered with ${response.status} ${await response.text()}`)
  return async (path) => {
    const startedAt = performance.now()
    const answer = await fetch(`${base}${path}`, { headers: { cookie } })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status} ${text}`)
    return performance.now() - startedAt
  }
}

async function measure({ name, path }: Page, readPage: ReadPage, requests: number): Promise<PageTimes> {
  // The first few pay for planning and compiled code.
  for (let number = 0; number < warmRequests; number += 1) await readPage(path(number))
  const alone: number[] = []
  for (let number = 0; number < requests; number += 1) alone.push(await readPage(path(warmRequests + number)))
  const crowded: number[] = []
  let next = 0
  async function work(): Promise<void> {
    while (next < requests) {
      next += 1
      crowded.push(await readPage(path(warmRequests + requests + next)))
    }
  }
  await Promise.all(Array.from({ length: crowd }, work))
  return { page: name, alone, crowded }
}
