// The worker's job that appends what the ledger has gained to the transparency log and signs the new size, within a second or two
// of the commit, and of a busy ledger within five. Entries from before the log are appended the same way, from the first on. Any
// number of processes may run it: an append is one statement that succeeds for one of them, and the others leave the work to the
// process that has just appended.
//
// Entries of a customer are appended in the order of their numbers, without a gap: the time of an entry only leads to its customer.
// So a late commit delays no other customer, and is not skipped.
import { sleep } from '../core/clock.ts'
import { type Database, isTooSlow } from '../db/database.ts'
import { groupsOf } from '../db/groups.ts'
import {
  append,
  beginLog,
  findHead,
  findMoved,
  findSafeTimes,
  findUnlogged,
  type LogMarks,
  markKeyOf,
  markOf,
  moveMarks,
  type Runs,
  readRuns,
  type Tree,
} from './append.sql.ts'
import type { LogSigner } from './note.ts'
import { findHoldingRestore, isHeldBack } from './restored/restores.sql.ts'
import { createSignedTree, isSameTree } from './signed-tree.ts'
import { emptyRoot, growTree, rootOfEdge } from './tree.ts'

/** Another process that has appended so recently goes on doing it. */
const stillAppendingMs = 8_000
/** How often everything since the safe mark is read again. Between two such reads entries are found by their time alone. */
const sweepMs = 300_000
/** Entries of a batch: about a third of a second of the database, and all that a busy ledger gains between two batches. */
const batchEntries = 30_000
/** After this many the ledger is busy, and the next batch comes later: entries of a customer share a run, which costs most. */
const busyEntries = 500
const restOfBusyMs = 3_500

export type AppendOptions = {
  sweepEveryMs?: number
  batch?: number
  freshMs?: number
  busy?: number
  restMs?: number
}

/** What was read of a group, and what is done when it is in the log. */
type GroupBatch = { runs: Runs | null; tree: Tree | null; marks: LogMarks; more: boolean; accept(): void }

export function createAppendToLog(database: Database, signer: LogSigner, options: AppendOptions = {}) {
  const { sweepEveryMs = sweepMs, batch = batchEntries, freshMs = stillAppendingMs } = options
  const { busy = busyEntries, restMs = restOfBusyMs } = options
  const newReaders = () => groupsOf(database).map((group) => createReader(database, group, sweepEveryMs))
  let readers = newReaders()
  const signed = createSignedTree(database, signer.keys, signer.origin)
  /** By this process. */
  let lastAppended: Tree | null = null
  /** Entries of the next batch: fewer after one that took too long. */
  let limit = batch
  let restsUntilMs = 0

  async function begin(): Promise<void> {
    if (signed.size() > 0) throw new Error(`The transparency log is gone. It had ${signed.size()} entries.`)
    await beginLog(database, emptyRoot, signed.noteOf({ size: 0, root: emptyRoot }))
  }

  async function appendRuns(from: Tree, parts: Runs[], marks: LogMarks): Promise<boolean> {
    const { edge, growth } = growTree(await signed.edgeOf(from), Buffer.concat(parts.map(({ hashes }) => hashes)))
    const to = { size: edge.size, root: rootOfEdge(edge) }
    const note = signed.noteOf(to)
    if (!(await append(database, { from, to, note, marks, runs: parts, growth }))) return false
    signed.accept({ ...to, edge }, note)
    lastAppended = to
    return true
  }

  async function appendNext(): Promise<{ more: boolean }> {
    const startedMs = performance.now()
    const head = await findHead(database, freshMs, signer.origin)
    if (head && isHeldBack(head.restoreId, signer)) return { more: false }
    if (!head) {
      // A backup of a version without a log.
      if (await findHoldingRestore(database, signer)) return { more: false }
      await begin()
      return { more: true }
    }
    if (head.isFresh && !(lastAppended && isSameTree(lastAppended, head))) {
      // Where this process was is long past when it takes over.
      readers = newReaders()
      return { more: false }
    }
    await signed.signAgain(head)
    const { batches, failures } = await readAll(readers, head.marks, limit)
    const parts = batches.flatMap(({ runs }) => runs ?? [])
    const marks = Object.assign({}, ...batches.map((each) => each.marks)) as LogMarks
    const [tree = head, ...others] = batches.flatMap((each) => each.tree ?? [])
    // Another process appends now.
    if (others.some((other) => !isSameTree(other, tree))) return { more: false }
    if (parts.length > 0 && !(await appendRuns(tree, parts, marks))) return { more: false }
    if (parts.length === 0 && Object.keys(marks).length > 0) await moveMarks(database, marks)
    for (const each of batches) each.accept()
    if (failures.length > 0) throw failures.find(isTooSlow) ?? failures[0]
    const more = batches.some((each) => each.more)
    // Requests come first: of a long list, such as all entries from before, a batch at a time with a pause of its length.
    if (more) await sleep(Math.min(performance.now() - startedMs, 1_000))
    else if (lastAppended && lastAppended.size - tree.size >= busy) restsUntilMs = performance.now() + restMs
    return { more }
  }

  return async (): Promise<{ more: boolean }> => {
    if (performance.now() < restsUntilMs) return { more: false }
    try {
      const appended = await appendNext()
      limit = Math.min(limit * 2, batch)
      return appended
    } catch (error) {
      // The disk may be cold.
      if (isTooSlow(error)) limit = Math.ceil(limit / 4)
      throw error
    }
  }
}

type Reader = (marks: LogMarks, limit: number) => Promise<GroupBatch>

/** A group whose server is unavailable delays no other: its failure is thrown when the others are appended. */
async function readAll(
  readers: Reader[],
  marks: LogMarks,
  limit: number,
): Promise<{ batches: GroupBatch[]; failures: unknown[] }> {
  const results = await Promise.allSettled(readers.map((read) => read(marks, limit)))
  return {
    batches: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    failures: results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
  }
}

/** Reads made one after the other, up to where no entry may be missing: `bound` was safe before the first of them. */
type Chain = { isSweep: boolean; bound: string; after: string; seen: ClockReading }
/** The clock of the group's server, and when that was by the clock of this process, which is never set. */
type ClockReading = { now: string; atMs: number }

/** Reads what a group has gained: a sweep from the stored mark on, and between two of them what is newer than the last read. */
function createReader(database: Database, group: Database, sweepEveryMs: number): Reader {
  let chain: Chain | null = null
  /** All entries up to this time were read; null until the first sweep has ended. */
  let readUpTo: string | null = null
  let sweptMs = 0
  let seen: ClockReading | null = null

  async function nextChain(marks: LogMarks): Promise<Chain> {
    const clock = seen && { now: seen.now, elapsedMs: performance.now() - seen.atMs }
    const times = await findSafeTimes(group, markOf(marks, database, group), clock)
    const seenNow = { now: times.now, atMs: performance.now() }
    return readUpTo === null || times.isSetBack || performance.now() - sweptMs >= sweepEveryMs
      ? { isSweep: true, bound: times.safe, after: times.sweepFrom, seen: seenNow }
      : { isSweep: false, bound: times.almostSafe, after: readUpTo, seen: seenNow }
  }

  return async (marks, limit) => {
    const current = chain ?? (await nextChain(marks))
    const { isSweep, bound, after } = current
    const moved = await findMoved(group, { after, limit, bound })
    const { isFull, reached, mark } = moved
    const found =
      moved.customers && moved.lastEntries ? await findUnlogged(database, moved.customers, moved.lastEntries) : null
    const runs = found?.unlogged ? await readRuns(group, found.unlogged) : null
    return {
      runs,
      tree: runs && found ? found.tree : null,
      marks: isSweep ? { [markKeyOf(database, group)]: mark } : {},
      more: isFull,
      accept() {
        // Not before: a clock that was set back is seen again until the sweep for it has begun.
        seen = current.seen
        chain = isFull && reached !== null ? { ...current, after: reached } : null
        if (chain) return
        readUpTo = bound
        if (isSweep) sweptMs = performance.now()
      },
    }
  }
}
