// The ceiling of the database: plain inserts a second, one row and one commit each, prepared, from 16 clients. Measured
// by pgbench, or where there is none by a process of Node that does the same and costs more processor time.
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, startProcess, stopProcess } from '../../harness/launch.ts'
import type { Books } from '../stage/books.ts'
import { startPart } from '../stage/processes.ts'
import type { Stage } from '../stage/stage.ts'
import { insertOrderText } from './insert-statement.ts'
import type { InsertsInput, InsertsOutput } from './inserts.ts'

const clients = 16
const pgbenchThreads = 2

export type PlainInsert = { by: 'pgbench' | 'node'; measure(seconds: number, warmSeconds: number): Promise<number> }

/** `measure` returns inserts a second. */
export function createPlainInsert(stage: Stage, options: { pgbench: boolean }): PlainInsert {
  const pgbench = options.pgbench ? findPgbench() : undefined
  if (!pgbench) return { by: 'node', measure: (seconds, warmSeconds) => runNode(stage, { seconds, warmSeconds }) }
  const script = writeScript(stage.books)
  return {
    by: 'pgbench',
    async measure(seconds, warmSeconds) {
      await runPgbench(stage, [pgbench, script], warmSeconds)
      return await runPgbench(stage, [pgbench, script], seconds)
    },
  }
}

function findPgbench(): string | undefined {
  const places = ['pgbench', join(binariesOfPostgres(), 'pgbench')]
  return places.find((place) => spawnSync(place, ['--version'], { stdio: 'ignore' }).status === 0)
}

function binariesOfPostgres(): string {
  try {
    return execFileSync('pg_config', ['--bindir'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}

/** An order id has 36 characters after `ord_`. */
function writeScript({ directory, customers, customerSeed }: Books): string {
  const file = join(directory, 'plain-insert.sql')
  const halfOfAnId = '999999999999999999'
  const insert = insertOrderText({
    customerId: `md5('${customerSeed} ' || (:customer)::text)::uuid`,
    orderId: `'ord_' || lpad((:first)::text, 18, '0') || lpad((:second)::text, 18, '0')`,
  })
  const lines = [
    `\\set customer random(0, ${customers.length - 1})`,
    `\\set first random(0, ${halfOfAnId})`,
    `\\set second random(0, ${halfOfAnId})`,
    `${insert};`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

async function runPgbench({ parts, books }: Stage, [pgbench, script]: [string, string], seconds: number) {
  const { host, port, user, password, database } = books.server.connection
  const args = ['-n', '-M', 'prepared', '-c', `${clients}`, '-j', `${pgbenchThreads}`, '-T', `${seconds}`, '-f', script]
  const { PATH } = process.env
  const server = ['-h', host, '-p', `${port}`, '-U', user, database]
  const running = startProcess(pgbench, [...args, ...server], { env: { PATH, PGPASSWORD: password } })
  parts.defer(() => stopProcess(running))
  const { code, stdout, stderr } = await running.ended
  const [, perSecond] = /^tps = ([\d.]+)/m.exec(stdout) ?? []
  if (code !== 0 || !perSecond) throw new Error(`pgbench ended with ${code}: ${stderr.trim().split('\n').at(-1)}`)
  return Number(perSecond)
}

async function runNode({ parts, books }: Stage, times: { seconds: number; warmSeconds: number }): Promise<number> {
  const { server, customers } = books
  const inserts = startPart(parts, 'bench/ceilings/inserts.ts')
  const customerIds = customers.map(({ customerId }) => customerId)
  const input: InsertsInput = { connection: server.connection, customerIds, clients, ...times }
  inserts.child.send(input)
  return (await messageOf<InsertsOutput>(inserts)).perSecond
}
