// One of the parallel senders: case after case, each over a connection of its own; ids of new orders and holds in the
// answers are used in later cases. Cases that keep their connection open are awaited beside the others.
import { minimizeBytes } from '../../../shrink.ts'
import { type Case, caseOf } from '../cases/cases.ts'
import { learn, type Values } from '../cases/stand-ins.ts'
import type { Findings } from './findings.ts'
import { bodyOf } from './oracles.ts'
import { codeOf, type Target, type Trial, tryCase } from './trial.ts'

export type Tally = {
  connections: number
  requests: number
  answers: number
  resets: number
  bytes: number
  byCode: Map<string, number>
  byKind: Map<string, number>
}

export function createTally(): Tally {
  return { connections: 0, requests: 0, answers: 0, resets: 0, bytes: 0, byCode: new Map(), byKind: new Map() }
}

export type SenderParts = {
  seed: number
  connection: number
  target: Target
  values: Values
  findings: Findings
  tally: Tally
  /** The current case, by connection. */
  underWay: Map<number, Case>
  /** Until the end of the run. */
  leftMs(): number
  /** The process has ended, so nothing more can be found. */
  isGone(): boolean
}

/** Connections that wait for the server to close them. */
const mostWaiting = 4
/** The longest that the server may take to close an idle connection; no wait begins later than that before the end. */
const waitMs = 12_000

export async function send(parts: SenderParts): Promise<void> {
  const { seed, connection, underWay, leftMs } = parts
  const waiting = new Set<Promise<void>>()
  for (let ordinal = 0; leftMs() > 0; ordinal += 1) {
    const next = caseOf(seed, connection, ordinal)
    underWay.set(connection, next)
    if (next.sending.ending !== 'stays') {
      await tryOne(parts, next)
    } else if (waiting.size < mostWaiting && leftMs() > waitMs) {
      const tried = tryOne(parts, next)
      waiting.add(tried)
      tried.finally(() => waiting.delete(tried))
    } else {
      await tryOne(parts, { ...next, sending: { ...next.sending, ending: 'answered' } })
    }
  }
  // One of these caused the end of the process.
  if (parts.isGone()) return
  await Promise.all(waiting)
  underWay.delete(connection)
}

async function tryOne(parts: SenderParts, next: Case): Promise<void> {
  const { target, values, findings } = parts
  const trial = await tryCase(target, next, values)
  count(parts.tally, next, trial)
  for (const answer of trial.answers) learn(values, bodyOf(answer))
  for (const breach of trial.breaches) {
    async function shows(bytes: Buffer): Promise<boolean> {
      if (parts.isGone()) return false
      const again = await tryCase(target, { ...next, bytes, fits: [] }, values)
      return again.breaches.some(({ oracle }) => oracle === breach.oracle)
    }
    const least = findings.isNew(breach) ? await minimizeBytes(next.bytes, shows) : null
    findings.addOfCase(breach, next, trial.received, least)
  }
}

function count(tally: Tally, { kind, bytes }: Case, { requests, answers, wasReset }: Trial): void {
  tally.connections += 1
  tally.requests += requests
  tally.answers += answers.length
  tally.bytes += bytes.length
  if (wasReset) tally.resets += 1
  for (const answer of answers) add(tally.byCode, codeOf(answer))
  for (const name of kind.split(' + ')) add(tally.byKind, name)
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
