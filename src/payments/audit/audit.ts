// The audit: checks every row of the books by the rules of src/payments/audit/rules.ts while the service runs. It only reads,
// in short statements one after the other: it locks nothing, holds no snapshot that keeps old row versions alive, and needs
// the memory of one chunk. Violations are listed up to a limit and counted beyond it. A finished audit is recorded as a row.
import { type Database, isTooSlow } from '../../db/database.ts'
import { findBrokenGuards, isSwitchedOff } from '../../db/guards.ts'
import { compareSchema } from '../../db/migrate.ts'
import { checkLog, type LogRule, logRules } from '../../transparency/check.ts'
import type { KeptCheckpoint } from '../../transparency/kept.ts'
import type { Secret } from '../../transparency/note.ts'
import {
  type Chunk,
  type ChunkLimits,
  checkChunk,
  countDeletedEvents,
  countDiscrepancies,
  databasesOf,
  estimateRows,
  maxChunkRows,
  type ScanPlace,
} from './audit.sql.ts'
import { type ActionRule, actionRules, checkActions } from './check-actions.ts'
import { checkFigures, type FigureRule, figureRules } from './check-figures.ts'
import { type AuditCause, type AuditFinding, findMostCounted, insertAudit } from './record.sql.ts'
import { type Rule, rules } from './rules.ts'
import { type CheckedName, type ScanName, scans } from './scans.sql.ts'

/** An id that the row does not have is null. */
export type Violation = {
  invariant: string
  rule: string
  customerId: string | null
  orderId: string | null
  entryNumber: number | null
  operationId: string | null
  holdId: string | null
  eventNumber: number | null
  record: string | null
  recordNumber: number | null
  detail: object
}

export type AuditResult = {
  ok: boolean
  checked: Record<CheckedName, number>
  /** At most `maxListed`, and at most `maxListedPerRule` of one rule. */
  violations: Violation[]
  violationCount: number
  /** Rows that break a liveness rule: a worker should have finished them. Violations only if `liveness` is checked. */
  stranded: number
  /** Checkpoints of a key that no known key names, as after a secret was replaced at once; null: no signature was checked. */
  unknownSigners: number | null
  /** Reported, not a violation: an operator has to look at them. */
  openDiscrepancies: number
  oldestDiscrepancySeconds: number | null
  tookMs: number
}

export type AuditOptions = {
  /** Rows checked so far, and an estimate of all. */
  onProgress?: (done: number, total: number) => void
  /** Ends the audit between two chunks, with an error: half an audit proves nothing. */
  signal?: AbortSignal
  /** Called between two chunks; an error ends the audit. */
  betweenChunks?: () => Promise<void>
  /** Whether breaking a liveness rule is a violation or is only counted, because no worker may have had the time. */
  liveness?: 'checked' | 'counted'
  /** Checkpoints that were kept elsewhere: the transparency log has to contain them. */
  kept?: readonly KeptCheckpoint[]
  /** The secrets of KEY_PEPPER, for the signatures of the transparency log; undefined: they are not checked. */
  peppers?: readonly Secret[] | undefined
  chunkRows?: number
  maxListed?: number
  maxListedPerRule?: number
}

const noIds = {
  customerId: null,
  orderId: null,
  entryNumber: null,
  operationId: null,
  holdId: null,
  eventNumber: null,
  record: null,
  recordNumber: null,
}
const guardRule = { invariant: 'SCHEMA', rule: `the schema's guards are in place` }
/** Broken by rows that could not be read in time: nothing is known about them. */
export const readableRule = { invariant: 'SCHEMA', rule: 'the rows can be read in the time a statement has' }
/** Audits record how many rows they counted. No table loses a row, except old events, which are counted. */
const countRule = { invariant: 'J-3', rule: 'no table has fewer rows than an earlier audit counted' }
/** The texts of all rules, as findings have them. */
export const ruleTexts = [
  ...new Set(
    [
      ...rules,
      ...Object.values(actionRules),
      ...Object.values(figureRules),
      ...Object.values(logRules),
      guardRule,
      readableRule,
      countRule,
    ].map(({ rule }) => rule),
  ),
]

type Liveness = AuditOptions['liveness']

const isChecked = ({ isLiveness }: Pick<Rule, 'isLiveness'>, liveness: Liveness) =>
  !isLiveness || liveness !== 'counted'

/** Includes the three rules that are not about rows. Those of what was kept and of signatures count only where there is something. */
function countRules({ liveness, kept = [], peppers }: AuditOptions): number {
  const isOfNothing = (rule: LogRule) =>
    (rule === logRules.signed && !peppers) ||
    (rule === logRules.kept && kept.length === 0) ||
    (rule === logRules.keptEntry && kept.every(({ entries }) => entries.length === 0))
  const ofLog = Object.values(logRules).filter((rule) => !isOfNothing(rule))
  const others = Object.values(actionRules).length + Object.values(figureRules).length
  return [...rules, ...ofLog].filter((rule) => isChecked(rule, liveness)).length + others + 3
}

/** Fewer rows in the time limit of a statement would be no progress. */
const leastChunkRows = 100

export async function audit(database: Database, options: AuditOptions = {}): Promise<AuditResult> {
  return (await checkBooks(database, options)).result
}

type RecordedOptions = AuditOptions & { onUnwritten(error: unknown): void; insert?: typeof insertAudit }

/** The same, and records it. If the row cannot be written, on a replica or without the right, the result is returned anyway. */
export async function recordedAudit(
  database: Database,
  cause: AuditCause,
  { onUnwritten, insert = insertAudit, ...options }: RecordedOptions,
): Promise<AuditResult> {
  const { result, findings } = await checkBooks(database, options)
  const { checked, violationCount, tookMs } = result
  const ruleCount = countRules(options)
  const record = { auditId: crypto.randomUUID(), cause, rules: ruleCount, checked, violationCount, tookMs, findings }
  await insert(database, record).catch(onUnwritten)
  return result
}

async function checkBooks(
  database: Database,
  options: AuditOptions,
): Promise<{ result: AuditResult; findings: AuditFinding[] }> {
  const {
    onProgress = () => undefined,
    signal,
    betweenChunks = async () => undefined,
    chunkRows = maxChunkRows,
    kept = [],
    peppers,
  } = options
  const startedAt = performance.now()
  const findings = createFindings(options)
  const names = Object.keys(scans) as ScanName[]
  const checked = Object.fromEntries(
    [...names, 'loggedEntries', 'publishedCheckpoints'].map((name) => [name, 0]),
  ) as AuditResult['checked']
  const total = await estimateRows(database)
  const mostCounted = await findMostCounted(database)

  async function afterChunk(): Promise<void> {
    signal?.throwIfAborted()
    const done = Object.values(checked).reduce((sum, rows) => sum + rows, 0)
    onProgress(done, Math.max(done, total))
    await betweenChunks()
  }

  const { isAhead } = await compareSchema(database)
  for (const guard of await findBrokenGuards(database)) {
    if (!isAhead || isSwitchedOff(guard)) findings.add(guardRule, guard)
  }
  for (const scan of names) {
    let isWhole = true
    for (const place of databasesOf(database, scan)) {
      let isEnded = false
      for await (const chunk of chunksOf(place, scan, Math.min(chunkRows, maxChunkRows), findings)) {
        signal?.throwIfAborted()
        checked[scan] += chunk.checked
        isEnded = chunk.next === null
        findings.addChunk(chunk)
        await afterChunk()
      }
      isWhole &&= isEnded
    }
    const counted = mostCounted.get(scan) ?? 0
    const hasFewer = isWhole && checked[scan] < counted
    const deleted = hasFewer && scan === 'events' ? await countDeletedEvents(database) : 0
    if (hasFewer && checked[scan] + deleted < counted) findings.add(countRule, { scan, rows: checked[scan], counted })
  }
  await checkActions(database, { pageRows: chunkRows, found: findings.addOne, onPage: afterChunk }).catch((error) => {
    unlessTooSlow(error)
    findings.add(readableRule, { scan: 'operatorActions', rows: checked.operatorActions })
  })
  await checkFigures(database, { pageRows: chunkRows, found: findings.addOne, onPage: afterChunk }).catch((error) => {
    unlessTooSlow(error)
    findings.add(readableRule, { scan: 'figures' })
  })
  const unknownSigners = await checkLog(database, {
    kept,
    peppers,
    found: findings.addOne,
    async onPiece({ leaves = 0, checkpoints = 0 }) {
      checked.loggedEntries += leaves
      checked.publishedCheckpoints += checkpoints
      await afterChunk()
    },
  }).catch((error) => {
    unlessTooSlow(error)
    findings.add(readableRule, { scan: 'loggedEntries', rows: checked.loggedEntries })
    return undefined
  })
  const [published, counted] = [checked.publishedCheckpoints, mostCounted.get('publishedCheckpoints') ?? 0]
  if (unknownSigners !== undefined && published < counted) {
    findings.add(countRule, { scan: 'publishedCheckpoints', rows: published, counted })
  }
  const { open, oldestSeconds } = await countDiscrepancies(database)
  const { violations, byRule } = findings
  const violationCount = byRule().reduce((sum, { count }) => sum + count, 0)
  const result = {
    ok: violationCount === 0,
    checked,
    violations,
    violationCount,
    stranded: findings.stranded(),
    unknownSigners: unknownSigners ?? null,
    openDiscrepancies: open,
    oldestDiscrepancySeconds: oldestSeconds,
    tookMs: Math.round(performance.now() - startedAt),
  }
  return { result, findings: byRule() }
}

type Findings = ReturnType<typeof createFindings>
type RuleName = Pick<Violation, 'invariant' | 'rule'>

/** Per rule, in the recorded row: enough to start an investigation. */
const subjectsKept = 5

function createFindings({ maxListed = 1_000, maxListedPerRule = 100, liveness }: AuditOptions) {
  const violations: Violation[] = []
  let stranded = 0
  const found = new Map<RuleName, AuditFinding & { listed: number }>()

  function findingOf(rule: RuleName) {
    const { invariant, rule: text } = rule
    const finding = found.get(rule) ?? { invariant, rule: text, count: 0, subjects: [], listed: 0 }
    found.set(rule, finding)
    return finding
  }
  function list(finding: AuditFinding, subject: Record<string, unknown>, violation: Violation): void {
    if (finding.subjects.length < subjectsKept) finding.subjects.push(subject)
    if (violations.length < maxListed) violations.push(violation)
  }
  return {
    violations,
    maxListedPerRule,
    stranded: () => stranded,
    byRule: () => [...found.values()].map(({ listed: _, ...finding }) => finding),
    /** A violation that is not about a row; the detail says what it is about. */
    add(rule: RuleName, detail: Record<string, unknown>): void {
      const finding = findingOf(rule)
      finding.count += 1
      list(finding, detail, { ...rule, ...noIds, detail })
    },
    addOne(
      rule: LogRule | ActionRule | FigureRule,
      detail: object,
      subject: Partial<Omit<Violation, keyof RuleName>> = {},
    ): void {
      if (rule.isLiveness) stranded += 1
      if (!isChecked(rule, liveness)) return
      const finding = findingOf(rule)
      finding.count += 1
      if (finding.listed === maxListedPerRule) return
      finding.listed += 1
      const { invariant, rule: text } = rule
      list(finding, subject, { invariant, rule: text, ...noIds, ...subject, detail })
    },
    addChunk({ counts, listed }: Chunk): void {
      for (const [index, more] of Object.entries(counts)) {
        const rule = rules[Number(index)] as Rule
        if (rule.isLiveness) stranded += more
        if (isChecked(rule, liveness)) findingOf(rule).count += more
      }
      for (const { ruleIndex, detail, ...subject } of listed) {
        const broken = rules[ruleIndex] as Rule
        if (!isChecked(broken, liveness)) continue
        const { invariant, rule } = broken
        const finding = findingOf(broken)
        if (finding.listed === maxListedPerRule) continue
        finding.listed += 1
        list(finding, subject, { invariant, rule, ...noIds, ...subject, detail })
      }
    },
  }
}

/** The chunks of a table. One that takes too long is tried again with fewer rows: the disk may be cold, an index missing. */
async function* chunksOf(
  database: Database,
  scan: ScanName,
  chunkRows: number,
  findings: Findings,
): AsyncGenerator<Chunk> {
  let rows = chunkRows
  let from: ScanPlace = null
  for (;;) {
    const limits: ChunkLimits = { from, rows, listPerRule: findings.maxListedPerRule }
    const chunk = await checkChunk(database, scan, limits).catch(unlessTooSlow)
    if (chunk) {
      yield chunk
      if (chunk.next === null) return
      from = chunk.next
    } else if (rows > leastChunkRows) {
      rows = Math.max(leastChunkRows, Math.floor(rows / 4))
    } else {
      return findings.add(readableRule, { scan, from, rows })
    }
  }
}

function unlessTooSlow(error: unknown): undefined {
  if (!isTooSlow(error)) throw error
}
