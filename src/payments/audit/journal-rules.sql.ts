// The audit rules about the journal of records (migrations/0019_record_journal.sql): rows outside the ledger, with a journal
// entry for every insert and update. The journal is a chain of hashes like a ledger; each row must match its last entry, and
// each entry must have its row. The SQL uses the names of src/payments/audit/scans.sql.ts.
import { type JournalledScan, journalled, type ScanRule } from './scans.sql.ts'

export const recordRules = (scan: JournalledScan): ScanRule[] => [
  {
    invariant: 'J-2',
    rule: `${journalled[scan].name} is as its last journal entry has it`,
    holds: 'present.hash = noted.content_hash',
  },
]

/** A trigger keeps `open_actions`: the worker ends no action that is missing there. */
export const operatorActionRules: ScanRule[] = [
  ...recordRules('operatorActions'),
  {
    invariant: 'J-3',
    rule: 'an action that has begun has an end or is open',
    holds: `r.step <> 'BEGUN'
      or exists (select from operator_actions l where l.action_id = r.action_id and l.step <> 'BEGUN')
      or exists (select from open_actions o where o.action_id = r.action_id)`,
  },
]

/** The format of a key in the journal; a cast of anything else would end the audit with an error. */
const shapes = { uuid: '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', text: '[^ ]+', bigint: '[0-9]{1,18}' }

const rowIsThere = Object.values(journalled)
  .map(({ table, key }) => {
    const shape = key.map(({ type }) => shapes[type]).join(' ')
    const matches = key.map(
      ({ column, type }, index) => `r.${column} = split_part(j.row_key, ' ', ${index + 1})::${type}`,
    )
    return `when '${table}' then case when j.row_key ~ '^${shape}$'
        then (select true from ${table} r where ${matches.join(' and ')} limit 1) end`
  })
  .join('\n      ')

const followsNothing = 'j.record_number <> coalesce(j.previous_number, 0) + 1'

export const journalRules: ScanRule[] = [
  {
    invariant: 'J-1',
    rule: 'the entries of the journal are numbered from one without a gap',
    holds: 'j.record_number = coalesce(j.previous_number, 0) + 1',
  },
  {
    invariant: 'J-1',
    rule: 'no journal entry has been changed: its hash is that of the entry and of the hash before it',
    holds: `${followsNothing}
      or j.journal_hash = record_journal_hash(coalesce(j.previous_hash, ''::bytea), j.record_number, j.table_name,
                                              j.row_key, j.before_hash, j.content_hash, j.written_at)`,
  },
  {
    invariant: 'J-1',
    rule: 'the head of the journal is its last entry',
    holds: `(select true from record_journal n where n.record_number > j.record_number limit 1)
      or (select (h.last_number, h.last_hash) = (j.record_number, j.journal_hash) from record_journal_head h)`,
  },
  {
    invariant: 'J-2',
    rule: 'every change of a record began with what its last journal entry had',
    holds: `j.before_hash is not distinct from (
      select b.content_hash from record_journal b
      where b.table_name = j.table_name and b.row_key = j.row_key and b.record_number < j.record_number
      order by b.record_number desc limit 1)`,
  },
  // A table that this version does not know is checked by the version that journals it.
  {
    invariant: 'J-2',
    rule: 'no record of the journal has been removed',
    holds: `case j.table_name
      ${rowIsThere}
      else true end`,
  },
]
