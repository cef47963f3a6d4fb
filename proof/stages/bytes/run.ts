// A run from start to verdict: start the service, warm it up, send from all connections until the time is over, let it
// become idle, and check that it still works, that its books are right and that its memory has not grown.
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OptionsOf } from '../../options.ts'
import type { BytesResult } from '../../report/report.ts'
import type { Case } from './cases/cases.ts'
import { createFindings, escaped, type Findings } from './trial/findings.ts'
import { type Breach, checkEnd } from './trial/oracles.ts'
import { createTally, send, type Tally } from './trial/sender.ts'
import { type Watch, watchService } from './watch.ts'
import { type FuzzedWorld, startFuzzedWorld } from './world.ts'

export type RunOptions = Omit<OptionsOf<'bytes'>, 'json' | 'record'> & {
  /** It goes on until this many were sent, also on a slow machine. */
  leastRequests?: number
  logLine(line: string): void
  stopped: AbortSignal
}

const logEveryMs = 5_000
/** The share of the run until code is compiled and caches are filled. */
const warmShare = 0.3
const longestWarmMs = 60_000
/** Connections to the database and the gateway come and go. */
const mostSocketsLeft = 32
const restMs = 1_500
const stopLimitMs = 60_000
const shownUnderWay = 8

type Run = {
  options: RunOptions
  world: FuzzedWorld
  findings: Findings
  tally: Tally
  watch: Watch
  underWay: Map<number, Case>
}

export async function runFuzz(options: RunOptions): Promise<BytesResult> {
  await using parts = new AsyncDisposableStack()
  options.logLine('Starting the service, its database and the gateway ...')
  const world = await startFuzzedWorld(options.seed, parts)
  const findings = createFindings(options.seed)
  const underWay = new Map<number, Case>()
  const watch = watchService(world.service, world.secrets, (breach) => findings.addGeneral(withCases(breach, underWay)))
  parts.defer(async () => watch.stop())
  const run = { options, world, findings, tally: createTally(), watch, underWay }
  options.logLine(`seed ${options.seed}: process ${world.service.pid()}, ${options.connections} connections at a time`)
  const socketsBefore = watch.sockets()
  const { before, after, tookMs } = await sendAll(run)
  const checked =
    watch.isGone() || options.stopped.aborted ? [] : await checkAtEnd(run, { before, after, socketsBefore })
  watch.stop()
  for (const breach of checked) findings.addGeneral(breach)
  return { ...reportOf(run, tookMs, before, after), file: writeFindings(options.seed, findings) }
}

/** It is not known which case caused it: one of those under way. */
function withCases({ oracle, detail }: Breach, underWay: Map<number, Case>): Breach {
  const cases = [...underWay.values()].slice(0, shownUnderWay)
  const shown = cases.map(
    ({ connection, ordinal, bytes }) => `connection ${connection}, ${ordinal}: ${escaped(bytes.subarray(0, 2_000))}`,
  )
  return { oracle, detail: [detail, ...(shown.length > 0 ? ['under way:', ...shown] : [])].join('\n') }
}

async function sendAll(run: Run) {
  const { options, world, watch, tally, findings, underWay } = run
  const { seed, connections, minutes, leastRequests = 0, logLine, stopped } = options
  const startedAt = performance.now()
  const endsAt = startedAt + minutes * 60_000
  const isGone = () => watch.isGone() || stopped.aborted
  const leftMs = () =>
    isGone() ? 0 : Math.max(endsAt - performance.now(), tally.requests < leastRequests ? logEveryMs : 0)
  const senders = Array.from({ length: connections }, (_, connection) =>
    send({ seed, connection, target: world, values: { ...world.values }, findings, tally, underWay, leftMs, isGone }),
  )
  const sent = Promise.all(senders)
  sent.catch(() => undefined)
  const warm = Math.min(longestWarmMs, (endsAt - startedAt) * warmShare)
  let before: number | null = null
  let last = { at: startedAt, requests: 0 }
  for (let loggedAt = startedAt; leftMs() > 0; ) {
    await Promise.race([sent, sleep(250)])
    const now = performance.now()
    if (before === null && now - startedAt >= warm) before = await watch.megabytesKept()
    if (now - loggedAt < logEveryMs) continue
    loggedAt = now
    const perSecond = Math.round((tally.requests - last.requests) / ((now - last.at) / 1_000))
    last = { at: now, requests: tally.requests }
    logLine(progress(run, endsAt - now, perSecond))
  }
  await sent
  const tookMs = performance.now() - startedAt
  return { before, after: await watch.megabytesKept(), tookMs }
}

function progress({ tally, findings, watch }: Run, leftMs: number, perSecond: number): string {
  const found = [...findings.counts.values()].reduce((sum, count) => sum + count, 0)
  const size = watch.megabytes()
  return [
    `${Math.ceil(leftMs / 1_000)} s left: ${tally.requests} requests (${perSecond}/s), ${tally.answers} answers`,
    `${tally.connections} connections, ${size === null ? 'memory unknown' : `${size.toFixed(0)} MB`}, ${found} findings`,
  ].join(', ')
}

type Measured = { before: number | null; after: number | null; socketsBefore: number | null }

async function checkAtEnd(
  { options, world, watch }: Run,
  { before, after, socketsBefore }: Measured,
): Promise<Breach[]> {
  await sleep(restMs)
  const sockets = (watch.sockets() ?? 0) - (socketsBefore ?? 0)
  const round = await roundTrip(world).catch(String)
  const { code, stdout, stderr } = await world.world.runCommand(['audit', '--json'])
  watch.stop()
  const ended = await world.service.end('SIGTERM', stopLimitMs)
  return checkEnd({
    megabytesBefore: before,
    megabytesAfter: after,
    sockets,
    mostSockets: options.connections + mostSocketsLeft,
    round,
    stop: ended?.code === 0 ? undefined : `after SIGTERM: ${JSON.stringify(ended)}`,
    audit: code === 0 ? undefined : `exit code ${code}: ${stdout}${stderr}`.slice(0, 4_000),
  })
}

/** Undefined when everything is right. */
async function roundTrip({ caller }: FuzzedWorld): Promise<string | undefined> {
  const credits = await caller.credits()
  const { body } = await caller.purchase('STANDARD')
  const { orderId, amount } = body.data
  const confirmed = await caller.confirm(orderId, amount)
  const cancelled = await caller.call('cancel', { paymentKey: `pay_${orderId}`, reason: 'the end of a run' })
  const codes = [body.code, confirmed.body.code, cancelled.body.code, await caller.status(orderId)].join(', ')
  const left = await caller.credits()
  if (codes !== 'SUCCESS, SUCCESS, SUCCESS, CANCELLED') return codes
  return left === credits ? undefined : `${credits} credits before, ${left} after`
}

function reportOf(
  { options, tally, watch, findings }: Run,
  tookMs: number,
  before: number | null,
  after: number | null,
) {
  const { connections, requests, answers, resets, bytes, byCode, byKind } = tally
  const { seed, minutes } = options
  return {
    seed,
    minutes,
    connectionsAtATime: options.connections,
    seconds: Math.round(tookMs / 1_000),
    connections,
    requests,
    answers,
    resets,
    bytes,
    megabytesBefore: before,
    megabytesAfter: after,
    codes: Object.fromEntries(byCode),
    kinds: Object.fromEntries(byKind),
    log: { lines: watch.lines.total, messages: Object.fromEntries(watch.lines.byMessage) },
    findings: findings.kept,
    foundOfKind: Object.fromEntries(findings.counts),
  }
}

/** Null when there are none. */
function writeFindings(seed: number, { kept }: Findings): string | null {
  if (kept.length === 0) return null
  const directory = join(tmpdir(), 'prepaid-credits-fuzz')
  mkdirSync(directory, { recursive: true })
  const file = join(directory, `findings-${seed}-${process.pid}.json`)
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`)
  return file
}
