// The checks of a run: cheap ones before every step and between steps that are far apart, on the books as they are at that
// moment and on the answers since the last time; those of the campaign at every quiet moment.
import { checkEverything } from '../../../model/checks/all.ts'
import { envelopeCheck, isUnexpectedError, unexpectedErrorCheck } from '../../../model/checks/answers.ts'
import { checkName, gatherEvidence } from '../../../model/checks/evidence.ts'
import {
  appendOnlyCheck,
  createWatch,
  type EntryDigest,
  entryDigestsText,
  sums,
  type Watched,
} from '../../../model/checks/money/watch.ts'
import { readFinalPages } from '../../../model/operators/final-pages.ts'
import { readEverything, settleDown } from '../../../model/settle.ts'
import { type Failure, kindOf } from './result.ts'
import type { Stage } from './stage.ts'

export type Checks = ReturnType<typeof createChecks>

/** With more entries than this, the sums are read every second time only, then every third, and so on. */
const entriesPerTurn = 1_500
const readers = 4

export function createChecks(stage: Stage, startedAt: Date) {
  const { world, history, shop } = stage
  const watch: Watched = createWatch(world.books, world.outside)
  const lastStatus = new Map<string, string>()
  let checkedCalls = 0
  let turn = 0
  let entries = 0

  const failure = (check: string, violations: string[], when: string, rule?: string): Failure => ({
    check,
    kind: kindOf(check, rule),
    violations,
    atMs: history.nowMs(),
    when,
    isOfHarness: false,
  })

  /** Checks the answers that have come since the last call. */
  function checkAnswers(): { check: string; violations: string[] } | undefined {
    const broken = history.calls.slice(checkedCalls).find(({ breach }) => breach !== null)
    checkedCalls = history.calls.length
    if (!broken) return undefined
    const check = isUnexpectedError(broken) ? unexpectedErrorCheck : envelopeCheck
    return { check, violations: [`call ${broken.number}: ${broken.breach}`] }
  }

  async function readSums(): Promise<{ check: string; violations: string[] } | undefined> {
    turn += 1
    if (turn <= entries / entriesPerTurn) return undefined
    turn = 0
    const [read = [], ...broken] = await world.readAll([entryDigestsText, ...Object.values(sums)])
    const digests = read as EntryDigest[]
    entries = digests.length
    const changed = watch.findChanged(digests)
    if (changed.length > 0) return { check: appendOnlyCheck, violations: changed }
    watch.noteEntries(digests)
    const place = broken.findIndex((rows) => rows.length > 0)
    if (place < 0) return undefined
    const violations = (broken[place] ?? []).map((row) => JSON.stringify(row))
    return { check: `I-1…17 ${Object.keys(sums)[place]}`, violations }
  }

  /** Reads what has changed, over HTTP. */
  async function readAll(): Promise<void> {
    for (const { request, outcome } of history.calls.slice(readFrom)) {
      if (request.op === 'status' && outcome.kind === 'ok' && !Array.isArray(outcome.data))
        lastStatus.set(request.orderId, String(outcome.data.status))
    }
    readFrom = history.calls.length
    const wasRead = ({ orderId, status }: { orderId: string; status: string }) => lastStatus.get(orderId) === status
    await readEverything({ ...stage, clients: readers }, wasRead)
  }
  let readFrom = 0

  return {
    /** As it is now, with steps under way; null: nothing is wrong. */
    async betweenSteps(when: string): Promise<Failure | null> {
      const found = checkAnswers() ?? (await readSums())
      return found ? failure(found.check, found.violations, when) : null
    },
    /** When everything is settled; all that failed. */
    async atQuietMoment(when: string): Promise<Failure[]> {
      const settled = await settleDown({ ...stage, logLine: () => undefined })
      await readAll()
      const staff = { operators: stage.operators, console: stage.console }
      const finalPages = await readFinalPages(world, staff, startedAt, stage.stopped)
      await watch.readSnapshot()
      await stage.gatewayFaults.collect()
      const evidence = await gatherEvidence(world, shop, {
        calls: history.calls,
        ...stage.outside,
        consoleCalls: stage.console.calls,
      })
      const all = await checkEverything({
        world,
        evidence,
        watch,
        quiet: { ...settled, finalPages },
        lies: stage.gatewayFaults.lies(),
        endedWrongly: stage.endedWrongly,
        answeredWrongly: [...stage.outside.wrong, ...stage.wrong, ...stage.siblings.wrong],
      })
      return all
        .filter(({ violations }) => violations.length > 0)
        .map((check) => failure(checkName(check), check.violations, when, check.rule))
    },
  }
}
