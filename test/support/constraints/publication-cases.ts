// What the schema forbids for published checkpoints of the transparency log and their cosignatures.
import type { Case } from './credit-cases.ts'
import type { Row } from './rows.ts'

const checkpoint = (row: Row): Row => ({
  size: 9,
  previous_size: 8,
  root: Buffer.alloc(32, 1),
  note: 'a note',
  keys: 'a list',
  ...row,
})
const cosignature = (row: Row): Row => ({ size: 8, vkey: 'w1+00000000+BA==', line: '— w1 AAAA\n', ...row })

export const publicationRows: [table: string, row: Row][] = [
  ['log_checkpoints', checkpoint({ size: 8, previous_size: 0, published_at: 'now' })],
  ['log_checkpoints', checkpoint({})],
  ['log_cosignatures', cosignature({})],
]

export const publicationCases: Record<string, Case[]> = {
  log_checkpoints: [
    ['a second checkpoint of a size', 'pkey', checkpoint({ size: 8, previous_size: 7 })],
    ['a second checkpoint after the same one', 'one_after_the_other', checkpoint({ size: 10 })],
    ['a checkpoint that is not larger', 'grow', checkpoint({ size: 10, previous_size: 10 })],
    ['a checkpoint after one below zero', 'grow', checkpoint({ size: 10, previous_size: -1 })],
    ['a checkpoint with half a root', 'root', checkpoint({ size: 10, previous_size: 9, root: Buffer.alloc(31) })],
  ],
  log_cosignatures: [
    ['a second cosignature of a witness', 'pkey', cosignature({})],
    ...['', '— w1 AAAA', '— w1 AAAA\n— w2 AAAA\n', 'a line\n', '— w+1 AAAA\n', '— w1  AAAA\n'].map(
      (line): Case => [`the cosignature ${JSON.stringify(line)}`, 'line', cosignature({ vkey: 'w2', line })],
    ),
    ['a cosignature of no checkpoint', 'size_fkey', cosignature({ size: 7 })],
  ],
}

const stays = 'a checkpoint is published once and not changed: UPDATE is refused'
const appendOnly = (table: string, operation: string) => `${table} is append-only: ${operation} is refused`

export const publicationTriggers: [what: string, trigger: string, sql: string, message: string][] = [
  ...[
    `root = '\\x${'02'.repeat(32)}'`,
    `note = 'another'`,
    `keys = 'another'`,
    "begun_at = begun_at - interval '1 day'",
    'published_at = null',
  ].map((change): (typeof publicationTriggers)[number] => [
    `a checkpoint with ${change}`,
    'log_checkpoints_stay',
    `update log_checkpoints set ${change} where size = 8`,
    stays,
  ]),
  ...[
    'size = 10',
    'previous_size = 7',
    `root = '\\x${'02'.repeat(32)}'`,
    `note = 'another'`,
    `keys = 'another'`,
    "begun_at = begun_at - interval '1 day'",
  ].map((change): (typeof publicationTriggers)[number] => [
    `a checkpoint with ${change} while it is published`,
    'log_checkpoints_stay',
    `update log_checkpoints set ${change}, published_at = now() where size = 9`,
    stays,
  ]),
  [
    'a checkpoint that is not the newest of the log',
    'log_checkpoints_of_head',
    `insert into log_checkpoints (size, previous_size, root, note, keys)
     values (9223372036854775807, 9, '\\x${'02'.repeat(32)}', 'a note', 'a list')`,
    'the log has no checkpoint of 9223372036854775807 entries that could be published',
  ],
  ...['delete from log_checkpoints', 'truncate log_checkpoints cascade'].map(
    (sql): (typeof publicationTriggers)[number] => {
      const operation = sql.startsWith('delete') ? 'DELETE' : 'TRUNCATE'
      return [`"${sql}"`, 'log_checkpoints_never_deleted', sql, appendOnly('log_checkpoints', operation)]
    },
  ),
  ...Object.entries({
    UPDATE: `update log_cosignatures set line = 'another'`,
    DELETE: 'delete from log_cosignatures',
    TRUNCATE: 'truncate log_cosignatures',
  }).map(([operation, sql]): (typeof publicationTriggers)[number] => {
    const what = `${operation.toLowerCase()} of the cosignatures`
    return [what, 'log_cosignatures_append_only', sql, appendOnly('log_cosignatures', operation)]
  }),
]
