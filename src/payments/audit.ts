// The audit: judges every row of the books by the rules of src/payments/audit-rules.ts while the service goes on working.
// It reads, in short statements one after the other, so it locks nothing, holds no snapshot that keeps old row versions
// alive, and needs the memory of one chunk. What it finds is listed up to a limit and counted beyond.
import type { Database } from '../db/database.ts'
import { findBrokenGuards, isSwitchedOff } from '../db/guards.ts'
import { compareSchema } from '../db/migrate.ts'
import { type Rule, rules } from './audit-rules.ts'
import type { ScanName } from './audit-scans.ts'
import {
  type Chunk,
  countDiscrepancies,
  estimateRows,
  judgeChunk,
  type Limits,
  maxChunkRows,
  type Place,
} from './audit-sql.ts'

/** Whom it is about is null where it is not about one of those. */
export type Violation = {
  invariant: string
  rule: string
  customerId: string | null
  orderId: string | null
  entryNumber: number | null
  operationId: string | null
  holdId: string | null
  eventNumber: number | null
  detail: object
}

export type AuditResult = {
  ok: boolean
  checked: Record<ScanName, number>
  /** At most `maxListed`, and no rule crowds out the others. */
  violations: Violation[]
  violationCount: number
  /** Reported, not a violation: a person is asked to look at them. */
  openDiscrepancies: number
  oldestDiscrepancySeconds: number | null
  tookMs: number
}

export type AuditOptions = {
  /** Rows judged so far, and an estimate of all. */
  onProgress?: (done: number, total: number) => void
  /** Ends the audit between two chunks, with an error: half an audit says nothing. */
  signal?: AbortSignal
  chunkRows?: number
  maxListed?: number
  maxListedPerRule?: number
}

const nobody = {
  ...{ customerId: null, orderId: null, entryNumber: null, operationId: null },
  ...{ holdId: null, eventNumber: null },
}
const guardRule = { invariant: 'SCHEMA', rule: `the schema's guards are in place` }
const readableRule = { invariant: 'SCHEMA', rule: 'the rows can be read in the time a statement has' }

/** Fewer rows than that in one statement's time would be no progress. */
const leastChunkRows = 100

export async function audit(database: Database, options: AuditOptions = {}): Promise<AuditResult> {
  const { onProgress = () => undefined, signal, chunkRows = maxChunkRows } = options
  const startedAt = performance.now()
  const findings = createFindings(options)
  const checked: AuditResult['checked'] = {
    ...{ accounts: 0, entries: 0, holds: 0, orders: 0, operations: 0, events: 0 },
  }
  const total = await estimateRows(database)

  const { isAhead } = await compareSchema(database)
  for (const guard of await findBrokenGuards(database)) {
    if (!isAhead || isSwitchedOff(guard)) findings.add({ ...guardRule, ...nobody, detail: guard })
  }
  for (const scan of Object.keys(checked) as ScanName[]) {
    for await (const chunk of chunksOf(database, scan, Math.min(chunkRows, maxChunkRows), findings)) {
      signal?.throwIfAborted()
      checked[scan] += chunk.judged
      findings.addChunk(chunk)
      const done = Object.values(checked).reduce((sum, rows) => sum + rows, 0)
      onProgress(done, Math.max(done, total))
    }
  }
  const { open, oldestSeconds } = await countDiscrepancies(database)
  const { violations, count } = findings
  return {
    ok: count() === 0,
    checked,
    violations,
    violationCount: count(),
    openDiscrepancies: open,
    oldestDiscrepancySeconds: oldestSeconds,
    tookMs: Math.round(performance.now() - startedAt),
  }
}

type Findings = ReturnType<typeof createFindings>

function createFindings({ maxListed = 1_000, maxListedPerRule = 100 }: AuditOptions) {
  const violations: Violation[] = []
  const listedOf = new Map<Rule, number>()
  let count = 0

  function list(violation: Violation): void {
    if (violations.length < maxListed) violations.push(violation)
  }
  return {
    violations,
    maxListedPerRule,
    count: () => count,
    add(violation: Violation): void {
      count += 1
      list(violation)
    },
    addChunk({ counts, listed }: Chunk): void {
      for (const more of Object.values(counts)) count += more
      for (const { ruleIndex, ...subject } of listed) {
        const rule = rules[ruleIndex] as Rule
        const already = listedOf.get(rule) ?? 0
        if (already === maxListedPerRule) continue
        listedOf.set(rule, already + 1)
        list({ invariant: rule.invariant, rule: rule.rule, ...nobody, ...subject })
      }
    },
  }
}

/** The chunks of a table. One that takes too long is tried again with fewer rows: a disk may be cold, an index gone. */
async function* chunksOf(
  database: Database,
  scan: ScanName,
  chunkRows: number,
  findings: Findings,
): AsyncGenerator<Chunk> {
  let rows = chunkRows
  let from: Place = null
  for (;;) {
    const limits: Limits = { from, rows, listPerRule: findings.maxListedPerRule }
    const chunk = await judgeChunk(database, scan, limits).catch(unlessTooSlow)
    if (chunk) {
      yield chunk
      if (chunk.next === null) return
      from = chunk.next
    } else if (rows > leastChunkRows) {
      rows = Math.max(leastChunkRows, Math.floor(rows / 4))
    } else {
      return findings.add({ ...readableRule, ...nobody, detail: { scan, from, rows } })
    }
  }
}

const statementTimeout = '57014'

function unlessTooSlow(error: unknown): undefined {
  if ((error as { cause?: { code?: string } }).cause?.code !== statementTimeout) throw error
}
