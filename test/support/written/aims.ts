// `npm run -s aims`: measures how easy the code is to understand. Counts files, names and spreads in the source, and runs one
// confirm on a real service to count the stack frames between its handler and PostgreSQL and the files that it executes.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Connections } from '../../../src/db/database.ts'
import { createTestDatabase } from '../database/database.ts'
import { globalSetup, globalTeardown } from '../database/global-setup.ts'
import { assertSuccess, startTestSandbox, startTestService } from '../service/service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** Folders with the most files, except migrations, which are a list. */
function fullestFolders(): string {
  const folders = Map.groupBy(
    files.filter((file) => /\.tsx?$/.test(file)),
    dirname,
  )
  const counted = [...folders].map(([folder, members]) => ({ folder, count: members.length }))
  return counted
    .sort((one, other) => other.count - one.count)
    .slice(0, 3)
    .map(({ folder, count }) => `${folder} ${count}`)
    .join(', ')
}

function namesExportedTwice(): string {
  const names = files
    .filter((file) => /^src\/.*\.ts$/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(/^export (?:async )?(?:function\*?|const|type|class) (\w+)/gm)].map(([, name]) => name),
    )
  const twice = [...Map.groupBy(names, (name) => name).values()].filter(({ length }) => length > 1)
  return `${twice.length}`
}

/** The files of the tour's reading list for confirm, which a newcomer starts with. */
function readingList(): string {
  const [, list = ''] = /<!-- confirm -->([\s\S]*?)<!-- \/confirm -->/.exec(read('docs/tour.md')) ?? []
  const named = new Set([...list.matchAll(/`(src\/[\w./-]+\.ts)`/g)].map(([, file = '']) => file))
  return `${named.size} files, ${new Set([...named].map(dirname)).size} folders`
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

function throttles(): string {
  const pieces = read('src/core/limit.ts')
  const pauses = read('src/core/backoff.ts')
  return `${count(pieces, /^export function/gm)} / ${count(pauses, /^export function/gm)}`
}

/** One confirm: the frames of each statement in src, and the files of which a function ran. */
async function confirmOnce(): Promise<{ frames: Map<string, number>; executed: string }> {
  const stacks = new Map<string, string>()
  const database = await createTestDatabase()
  const query: Connections['query'] = (sent) => {
    stacks.set(sent.name, new Error().stack ?? '')
    return database.pool.query(sent)
  }
  const watched = { ...database, pool: Object.assign(Object.create(database.pool), { query }) }
  const sandbox = await startTestSandbox()
  const service = await startTestService({ beside: { database: watched, sandboxUrl: sandbox.url } })
  const session = new Session()
  session.connect()
  try {
    const customer = await service.newCustomer()
    assertSuccess(await (await customer.paidOrder()).confirm(), 200)
    const order = await customer.paidOrder()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    Error.stackTraceLimit = 200
    stacks.clear()
    assertSuccess(await order.confirm(), 200)
    Error.stackTraceLimit = 10
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const executed = result
      .filter(({ functions }) => functions.some(({ ranges }) => ranges.some((range) => range.count > 0)))
      .map(({ url }) => (url.startsWith('file:') ? relative(root, fileURLToPath(url)) : ''))
      .filter((file) => file.startsWith('src/'))
    const frames = [...stacks].map(([name, stack]): [string, number] => {
      const [belowTheHandler = ''] = stack.split('/src/payments/routes.ts')
      return [name, count(belowTheHandler, /\/src\/[\w/.-]+\.ts:/g)]
    })
    const folders = new Set(executed.map(dirname))
    return { frames: new Map(frames), executed: `${executed.length} files, ${folders.size} folders` }
  } finally {
    session.disconnect()
    await service.close()
    await sandbox.close()
    await database.drop()
  }
}

await globalSetup()
try {
  const { frames, executed } = await confirmOnce()
  const framesOf = (name: string) => frames.get(name) ?? 'not sent'
  const rows = [
    ['confirm: the reading list in docs/tour.md', readingList()],
    ['confirm: files it executes', executed],
    [
      'frames from the handler to PostgreSQL, begin / finish',
      `${framesOf('payments.claimConfirms')} / ${framesOf('payments.finishOperations')}`,
    ],
    ['fullest folders', fullestFolders()],
    ['exported names with two meanings', namesExportedTwice()],
    ['ways to throttle / to back off (src/core/limit.ts, backoff.ts)', throttles()],
  ]
  for (const [name = '', value = ''] of rows) process.stdout.write(`${name.padEnd(64)}${value}\n`)
} finally {
  await globalTeardown()
}
