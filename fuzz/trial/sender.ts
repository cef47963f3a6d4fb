// One of those who send at the same time: case after case, each over a connection of its own, and what answers tell of new
// orders and holds goes into the next ones. A case that stays without a word is waited for beside the others.

import { type Case, caseOf } from '../cases/cases.ts'
import { shrink } from '../cases/shrink.ts'
import { learn, type Values } from '../cases/stand-ins.ts'
import { bodyOf } from './answers.ts'
import type { Findings } from './findings.ts'
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
  /** What is on its way at the moment, by connection. */
  underWay: Map<number, Case>
  /** Until it is over. */
  leftMs(): number
  /** Of a process that is not there nothing more can be found. */
  isGone(): boolean
}

/** So many may wait to be closed upon at a time. */
const mostWaiting = 4
/** The longest that a server may take to close upon somebody who stays; nobody begins to wait for it later than that. */
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
  // Where the process has died, it was one of these.
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
    const least = findings.isNew(breach) ? await shrink(next.bytes, shows) : null
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
