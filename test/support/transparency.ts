// An independent reading of the transparency log for tests: RFC 6962 by its recursive definitions, and checks of proofs as its
// algorithms have them. And an attacker who writes the log again, as close to the old one as the changed ledger allows.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { type LogSigner, signCheckpoint } from '../../src/transparency/note.ts'
import { growTree, rootOfEdge } from '../../src/transparency/tree.ts'

const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
export const leafHash = (leaf: string) => sha256(Buffer.of(0), Buffer.from(leaf))
const nodeHash = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right)

function split(length: number): number {
  let power = 1
  while (power * 2 < length) power *= 2
  return power
}

/** Known roots of each list, by the ends of a part. */
const roots = new WeakMap<Buffer[], Map<string, Buffer>>()

/** MTH(D[from:to]), of hashes of leaves. */
export function naiveRoot(leaves: Buffer[], from = 0, to = leaves.length): Buffer {
  if (to - from <= 1) return to > from ? (leaves[from] as Buffer) : sha256()
  const known = roots.get(leaves) ?? new Map<string, Buffer>()
  roots.set(leaves, known)
  const at = from + split(to - from)
  const root = known.get(`${from} ${to}`) ?? nodeHash(naiveRoot(leaves, from, at), naiveRoot(leaves, at, to))
  known.set(`${from} ${to}`, root)
  return root
}

/** PATH(m, D[from:to]), where m counts from the first of all. */
export function naivePath(index: number, leaves: Buffer[], from = 0, to = leaves.length): Buffer[] {
  if (to - from <= 1) return []
  const at = from + split(to - from)
  return index < at
    ? [...naivePath(index, leaves, from, at), naiveRoot(leaves, at, to)]
    : [...naivePath(index, leaves, at, to), naiveRoot(leaves, from, at)]
}

/** SUBPROOF(m, D[from:to], b), where m counts from the first of all. */
export function naiveProof(oldSize: number, leaves: Buffer[], from = 0, to = leaves.length, isWhole = true): Buffer[] {
  if (oldSize === to) return isWhole ? [] : [naiveRoot(leaves, from, to)]
  const at = from + split(to - from)
  return oldSize <= at
    ? [...naiveProof(oldSize, leaves, from, at, isWhole), naiveRoot(leaves, at, to)]
    : [...naiveProof(oldSize, leaves, at, to, false), naiveRoot(leaves, from, at)]
}

/** The root that an inclusion proof leads to, as section 2.1.3.2 of RFC 9162 computes it. */
export function rootByInclusion(leaf: string, index: number, size: number, proof: Buffer[]): Buffer {
  let [at, last, root] = [index, size - 1, leafHash(leaf)]
  for (const hash of proof) {
    if (at % 2 === 1 || at === last) {
      root = nodeHash(hash, root)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else {
      root = nodeHash(root, hash)
    }
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return root
}

const quotedLeaf = `ledger_leaf(e.customer_id, e.entry_number, e.created_at, e.kind, e.delta, e.balance_after, e.held_delta,
  e.held_after, e.adjusted_after, e.order_id, e.reference, e.hold_id, e.service_id)`

export type LoggedEntry = { customerId: string; entryNumber: number; leaf: string }

/** The log as its runs have it, with the leaves that the ledger gives now; with `all`, those that are in no run at the end. */
export async function leavesInOrder(client: Pick<pg.ClientBase, 'query'>, all = false): Promise<LoggedEntry[]> {
  const { rows } = await client.query<LoggedEntry>(`
    select e.customer_id as "customerId", e.entry_number::int as "entryNumber", ${quotedLeaf} as leaf
    from ledger_entries e
    ${all ? 'left' : ''} join log_runs r
      on r.customer_id = e.customer_id and e.entry_number between r.first_entry and r.last_entry
    order by r.first_leaf + e.entry_number - r.first_entry nulls last, e.customer_id, e.entry_number`)
  return rows
}

/** Without triggers: every entry that is still there keeps its place, and new ones come last, under a signature of the log. */
export async function rewriteLog(client: pg.ClientBase, { keys, origin }: LogSigner): Promise<void> {
  const leaves = await leavesInOrder(client, true)
  const { edge, growth } = growTree({ size: 0, hashes: [] }, Buffer.concat(leaves.map(({ leaf }) => leafHash(leaf))))
  const root = rootOfEdge(edge)
  await client.query('delete from log_runs; delete from log_tiles')
  for (const { level, tile, added } of growth)
    await client.query('insert into log_tiles values ($1, $2, $3)', [level, tile, added])
  for (const [index, { customerId, entryNumber }] of leaves.entries())
    await client.query('insert into log_runs values ($1, $2, $2, $3)', [customerId, entryNumber, index])
  const note = signCheckpoint(keys, { origin, size: edge.size, root })
  await client.query('update log_head set size = $1, root = $2, note = $3', [edge.size, root, note])
}

/** Without triggers: the entry as the ledger has it now gets another leaf at the end of the log, and its run names that one. */
export async function appendSecondLeaf(
  client: pg.ClientBase,
  { keys, origin }: LogSigner,
  { customerId, entryNumber }: Omit<LoggedEntry, 'leaf'>,
): Promise<void> {
  const { rows: tiles } = await client.query<{ level: number; hashes: Buffer }>(
    'select level, hashes from log_tiles where level = 0 order by tile',
  )
  const { rows } = await client.query<{ leaf: string }>(
    `select ${quotedLeaf} as leaf from ledger_entries e where e.customer_id = $1 and e.entry_number = $2`,
    [customerId, entryNumber],
  )
  const leaves = Buffer.concat([...tiles.map(({ hashes }) => hashes), leafHash(rows[0]?.leaf ?? '')])
  const { edge, growth } = growTree({ size: 0, hashes: [] }, leaves)
  await client.query('delete from log_tiles')
  for (const { level, tile, added } of growth)
    await client.query('insert into log_tiles values ($1, $2, $3)', [level, tile, added])
  // The run is split: the entries before, the one of the new leaf, the entries behind.
  await client.query(
    `with old as (
      delete from log_runs where customer_id = $1 and first_entry <= $2 and last_entry >= $2 returning *
    )
    insert into log_runs (customer_id, first_entry, last_entry, first_leaf)
    select $1::uuid, first_entry, $2::bigint - 1, first_leaf from old where first_entry < $2
    union all select $1::uuid, $2::bigint, $2::bigint, $3::bigint
    union all select $1::uuid, $2::bigint + 1, last_entry, first_leaf + $2::bigint + 1 - first_entry from old where last_entry > $2`,
    [customerId, entryNumber, edge.size - 1],
  )
  const root = rootOfEdge(edge)
  const note = signCheckpoint(keys, { origin, size: edge.size, root })
  await client.query('update log_head set size = $1, root = $2, note = $3', [edge.size, root, note])
}
