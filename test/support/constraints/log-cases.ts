// What the schema refuses about the transparency log: statements on a log of two entries of one customer, with the guard that
// refuses each. A third entry is in the ledger and not in the log.

const hash = `sha256('x')`
const headOf = (size: number) => `update log_head set size = ${size}, root = ${hash}`
const runOf = (first: number, last: number, leaf: number) =>
  `insert into log_runs select customer_id, ${first}, ${last}, ${leaf} from log_runs`
const grow = (hashes = 1) => `update log_tiles set hashes = hashes || ${Array(hashes).fill(hash).join(' || ')}`
const together = (...texts: string[]) =>
  `with ${texts.map((text, at) => `step${at} as (${text} returning 1)`).join(', ')} select 1`

/** The one that is accepted: the third entry with its run and its hash. */
export const wholeAppend = together(headOf(3), runOf(3, 3, 2), grow())

const headIs = (only: boolean) => `insert into log_head select ${only}, 0, root, note, marks, now() from log_head`

export const logCases: [what: string, guard: string, sql: string, message: RegExp][] = [
  ['a smaller size', 'log_head_only_grows', headOf(1), /only grows/],
  ['another root of the same size', 'log_head_only_grows', `update log_head set root = ${hash}`, /only grows/],
  ['no head', 'log_head_never_deleted', 'delete from log_head', /append-only/],
  ['a second head', 'log_head_pkey', headIs(true), /duplicate key/],
  ['a head of another log', 'log_head_only_one', headIs(false), /check constraint/],
  ['half a root', 'log_head_size_and_root', `update log_head set size = 3, root = '\\x00'`, /check constraint/],
  ['a size without runs and tiles', 'log_head_has_its_tree', headOf(3), /no runs and tiles/],
  ['a size without runs', 'log_head_has_its_tree', together(headOf(3), grow()), /no runs and tiles/],
  ['a size without tiles', 'log_head_has_its_tree', together(headOf(3), runOf(3, 3, 2)), /no runs and tiles/],
  ['hashes without the head', 'log_tiles_grown_to_size', grow(), /hashes of the log's size/],
  ['more hashes than leaves', 'log_tiles_grown_to_size', grow(2), /hashes of the log's size/],
  ['a tile without the head', 'log_tiles_of_size', `insert into log_tiles values (1, 0, ${hash})`, /the log's size/],
  ['a tile twice', 'log_tiles_pkey', `insert into log_tiles values (0, 0, ${hash})`, /duplicate key/],
  ['a tile of no level', 'log_tiles_place', `insert into log_tiles values (7, 0, ${hash})`, /check constraint/],
  ['half a hash', 'log_tiles_hashes', `update log_tiles set hashes = hashes || '\\x00'`, /check constraint/],
  ['a hash that changes', 'log_tiles_only_grow', `update log_tiles set hashes = ${hash} || hashes`, /only grows/],
  ['fewer hashes', 'log_tiles_only_grow', 'update log_tiles set hashes = substr(hashes, 1, 32)', /only grows/],
  ['a tile that moves', 'log_tiles_only_grow', 'update log_tiles set tile = 1', /only grows/],
  ['no tile', 'log_tiles_never_deleted', 'delete from log_tiles', /append-only/],
  ['a run that changes', 'log_runs_append_only', 'update log_runs set last_entry = 3', /append-only/],
  ['no run', 'log_runs_append_only', 'truncate log_runs', /append-only/],
  ['a run without the head', 'log_runs_in_order', runOf(3, 3, 2), /another size/],
  ['an entry left out', 'log_runs_in_order', together(headOf(3), runOf(4, 4, 2), grow()), /does not continue/],
  ['an entry twice', 'log_runs_in_order', together(headOf(3), runOf(2, 2, 2), grow()), /does not continue/],
  ['a leaf left out', 'log_runs_in_order', together(headOf(4), runOf(3, 3, 3), grow(2)), /does not continue/],
  ['a leaf twice', 'log_runs_in_order', together(headOf(3), runOf(3, 4, 1), grow()), /does not continue/],
  ['a run twice', 'log_runs_pkey', together(headOf(3), runOf(1, 1, 2), grow()), /duplicate key/],
  ['two runs with one leaf', 'log_runs_first_leaf', together(headOf(3), runOf(3, 3, 0), grow()), /duplicate key/],
  ['a run without entries', 'log_runs_numbers', together(headOf(3), runOf(3, 2, 2), grow()), /check constraint/],
]
