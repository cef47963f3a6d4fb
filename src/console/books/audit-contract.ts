// What the console shows of the audits of the books.
import Type from 'typebox'
import { Detail, Flag, Moment, paging, Text, TextOrNull, Uuid, Whole } from '../schema-words.ts'

const summary = {
  auditId: Text,
  cause: Type.Enum(['DAILY', 'COMMAND']),
  begunAt: Moment,
  endedAt: Moment,
  ageSeconds: Whole,
  /** How many rules, and how many rows were judged by them. */
  rules: Whole,
  rows: Whole,
  violationCount: Whole,
  /** All that was found: rows that could not be read in time. Nothing is known to be wrong. */
  isOnlyUnread: Flag,
}

/** Null: the books have never been audited, or by an earlier version, which kept nothing of it. */
export const LastAudit = Type.Union([Type.Object(summary), Type.Null()])

export const AuditsQuery = Type.Object(paging)
/** Newest first. */
export const AuditsData = Type.Object({ audits: Type.Array(Type.Object(summary)), nextCursor: TextOrNull })

export const AuditParams = Type.Object({ auditId: Uuid })
export const AuditData = Type.Object({
  ...summary,
  /** Rows that were judged, by what they are. Audits of earlier versions judged fewer kinds. */
  checked: Type.Object({
    accounts: Whole,
    entries: Whole,
    holds: Whole,
    orders: Whole,
    operations: Whole,
    events: Whole,
    customers: Type.Optional(Whole),
    apiKeys: Type.Optional(Whole),
    serviceTokens: Type.Optional(Whole),
    operators: Type.Optional(Whole),
    operatorActions: Type.Optional(Whole),
    discrepancies: Type.Optional(Whole),
    audits: Type.Optional(Whole),
    journalEntries: Type.Optional(Whole),
  }),
  /** By rule: how often it is broken, and the first few of whom. */
  findings: Type.Array(Type.Object({ invariant: Text, rule: Text, count: Whole, subjects: Type.Array(Detail) })),
})
