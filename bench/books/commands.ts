// Runs the commands that read whole books on generated books, as an operator would: cost and outcome of each.
import { join } from 'node:path'
import { databaseUrl } from '../../harness/processes.ts'
import { logLine } from '../report/progress.ts'
import { thousands } from '../report/report.ts'
import type { Counts } from './generate.ts'
import { type Measured, measure } from './measure.ts'
import type { BooksServer } from './server.ts'
import { startStandIn } from './stand-in.ts'

export const stepNames = ['audit', 'reconcile', 'reconcile again', 'audit again'] as const
export type StepName = (typeof stepNames)[number]

export type Line = { step: string; rows: number; seconds: number; peakMegabytes: number | null; outcome: string }

export type Setting = Pick<BooksServer, 'connection' | 'directory'> & {
  steps: readonly StepName[]
  /** The options of the reconciliation. */
  span: { from: string; to: string }
  signal: AbortSignal
}

export async function runCommands(counts: Counts, setting: Setting): Promise<Line[]> {
  const { connection, directory, steps, span, signal } = setting
  await using standIn = await openStandIn(connection)
  const environment = {
    DATABASE_URL: databaseUrl(connection),
    DATA_DIR: join(directory, 'command'),
    GATEWAY: 'toss',
    TOSS_API_URL: standIn.url,
    TOSS_CLIENT_KEY: 'test_ck_of_the_stand_in',
    TOSS_SECRET_KEY: 'test_sk_of_the_stand_in',
    KEY_PEPPER: 'a pepper for this measurement',
  }
  const audit = { args: ['audit', '--json'], rows: rowsOf(counts) }
  const reconcile = { args: ['reconcile', '--from', span.from, '--to', span.to, '--json'], rows: counts.movements }
  const commands = { audit, reconcile, 'reconcile again': reconcile, 'audit again': audit }
  const lines: Line[] = []
  for (const step of steps) {
    const { args, rows } = commands[step]
    logLine(`Running ${args.join(' ')} ...`)
    const measured = await measure(args, environment, signal)
    const { seconds, peakMegabytes } = measured
    lines.push({ step, rows, seconds, peakMegabytes, outcome: outcomeOf(measured) })
  }
  const { pages, payments } = standIn.requests
  logLine(`The gateway served ${thousands(pages)} pages and ${thousands(payments)} payments.`)
  return lines
}

async function openStandIn(connection: BooksServer['connection']) {
  const standIn = await startStandIn(connection)
  return { ...standIn, [Symbol.asyncDispose]: standIn.close }
}

/** The result without its lists: a table has the figures only. */
function outcomeOf({ code, stdout, stderr }: Measured): string {
  if (code === 2) return `FAILED: ${stderr.split('\n')[0]}`
  try {
    const result = Object.entries(JSON.parse(stdout) as object).filter(([, value]) => !Array.isArray(value))
    return `exit ${code}, ${JSON.stringify(Object.fromEntries(result))}`
  } catch {
    return `FAILED: exit ${code}, ${(stderr || stdout).trim().split('\n').at(-1)}`
  }
}

export function rowsOf({ customers, orders, entries, operations, holds, events }: Counts): number {
  return customers + orders + entries + operations + holds + events
}
