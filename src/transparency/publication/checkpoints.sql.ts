// Published checkpoints and the cosignatures on them. On a cluster these tables are on the coordinator and events in the groups of
// customers, so a checkpoint and its event are two statements: the first begins the publication, the event is written once however
// often it is tried, and the last one ends it.
import { type Database, statement } from '../../db/database.ts'
import { emitEvents, platformCustomer } from '../../events/outbox.sql.ts'

// Due when the last one began long enough ago; the first one as long after the first customer. Another process that begins one at
// the same moment has the same predecessor. The head is published as it is, if it is still the one that was looked at.
const beginStatement = statement.global(
  'transparency.beginPublication',
  `insert into log_checkpoints (size, previous_size, root, note, keys)
  select h.size, coalesce(newest.size, 0), h.root, h.note, $2::text
  from log_head h
  cross join (select min(created_at) as at from customers) first
  left join lateral (select * from log_checkpoints order by size desc limit 1) newest on true
  where h.note = $1::text
    and h.size > coalesce(newest.size, 0)
    and (newest.size is null or newest.published_at is not null)
    and coalesce(newest.begun_at, first.at) <= now() - $3::int * interval '1 s'
  on conflict do nothing
  returning size`,
)

/** `keys`: the signed list of the keys that have signed the note. Whether this call has begun the publication. */
export async function beginPublication(
  database: Database,
  { note, keys }: { note: string; keys: string },
  everySeconds: number,
): Promise<boolean> {
  return (await database.run(beginStatement, [note, keys, everySeconds])).length > 0
}

export type StoredCheckpoint = {
  size: number
  root: Buffer
  /** With the signatures of the log alone. */
  note: string
  /** The signed list of the keys that have signed the note. */
  keys: string
  publishedAt: Date | null
  begunBeforeMs: number
  /** By the verifier keys of the witnesses, in the order in which they came. */
  cosignatures: { vkey: string; line: string }[]
}

const columns = `p.size, p.root, p.note, p.keys, p.published_at as "publishedAt",
    extract(epoch from now() - p.begun_at)::float8 * 1000 as "begunBeforeMs",
    (select coalesce(json_agg(json_build_object('vkey', c.vkey, 'line', c.line) order by c.received_at, c.vkey), '[]')
     from log_cosignatures c where c.size = p.size) as "cosignatures"`

const findNewestStatement = statement.global(
  'transparency.findNewestPublication',
  `select ${columns} from log_checkpoints p order by p.size desc limit 1`,
)

/** Also one that is not published yet. */
export async function findNewestPublication(database: Database): Promise<StoredCheckpoint | undefined> {
  return (await database.run<StoredCheckpoint>(findNewestStatement))[0]
}

const listNewestStatement = statement.global(
  'transparency.listNewestPublished',
  `select ${columns} from log_checkpoints p where p.published_at is not null order by p.size desc limit $1`,
)

const listNextStatement = statement.global(
  'transparency.listNextPublished',
  `select ${columns} from log_checkpoints p
  where p.published_at is not null and p.size > $1::bigint
  order by p.size limit $2`,
)

/** In the order of their sizes: the next ones after a size, or the newest. */
export async function listPublished(
  database: Database,
  after: number | null,
  limit: number,
): Promise<StoredCheckpoint[]> {
  return after === null
    ? (await database.run<StoredCheckpoint>(listNewestStatement, [limit])).reverse()
    : database.run<StoredCheckpoint>(listNextStatement, [after, limit])
}

const findAtSizeStatement = statement.global(
  'transparency.findPublished',
  `select ${columns} from log_checkpoints p where p.size = $1 and p.published_at is not null`,
)

export async function findPublished(database: Database, size: number): Promise<StoredCheckpoint | undefined> {
  return (await database.run<StoredCheckpoint>(findAtSizeStatement, [size]))[0]
}

const listNewestCosignedStatement = statement.global(
  'transparency.listNewestCosigned',
  `select ${columns}
  from (select size from log_cosignatures group by size order by size desc limit $1) c
  join log_checkpoints p on p.size = c.size
  where p.published_at is not null
  order by p.size desc`,
)

/** Published checkpoints among the newest that have cosignatures, newest first. */
export function listNewestCosigned(database: Database, limit: number): Promise<StoredCheckpoint[]> {
  return database.run<StoredCheckpoint>(listNewestCosignedStatement, [limit])
}

const listKeysStatement = statement.global(
  'transparency.listPublishedKeys',
  'select keys from log_checkpoints group by keys order by max(size) desc',
)

/** The signed lists of keys of published checkpoints, the newest first. */
export async function listKeyLists(database: Database): Promise<string[]> {
  return (await database.run<{ keys: string }>(listKeysStatement)).map(({ keys }) => keys)
}

const listCosignedSizesStatement = statement.global(
  'transparency.listCosignedSizes',
  `select w.vkey, c.size, c.received_at as "receivedAt"
  from unnest($1::text[]) as w (vkey)
  cross join lateral (select size, received_at from log_cosignatures c where c.vkey = w.vkey
                      order by c.size desc limit 1) c`,
)

export type Cosigned = { vkey: string; size: number; receivedAt: Date }

/** The newest checkpoint that each witness has cosigned; those that never did are missing. */
export function listCosigned(database: Database, vkeys: string[]): Promise<Cosigned[]> {
  return database.run<Cosigned>(listCosignedSizesStatement, [vkeys])
}

const addCosignatureStatement = statement.global(
  'transparency.addCosignature',
  'insert into log_cosignatures (size, vkey, line) values ($1, $2, $3) on conflict do nothing',
)

/** The first one of a witness is kept. */
export async function addCosignature(database: Database, size: number, vkey: string, line: string): Promise<void> {
  await database.run(addCosignatureStatement, [size, vkey, line])
}

// Under the lock of the account, and only when this statement sees its last event: one that was written while it waited is younger
// than its snapshot. Events of a checkpoint are in the order of sizes, so the last one shows whether this one was written.
const writeEventStatement = statement.ofCustomer(
  'transparency.writeEvent',
  `with account as materialized (
    select a.customer_id, a.last_event, greatest(a.moved_at, clock_timestamp()) as moved_at
    from accounts a where a.customer_id = $1::uuid limit 1 for no key update
  ),
  written as materialized (
    select a.customer_id, coalesce(
        (select (e.data ->> 'size')::bigint from events e
         where e.customer_id = a.customer_id and e.type = 'checkpoint.published'
         order by e.event_number desc limit 1), 0) as size
    from account a
    where a.last_event = coalesce((select max(e.event_number) from events e where e.customer_id = a.customer_id), 0)
  ),
  numbered as (
    update accounts a set last_event = o.last_event + 1, moved_at = o.moved_at
    from account o join written w using (customer_id)
    where a.customer_id = o.customer_id and w.size < $2::bigint
    returning a.customer_id, a.last_event, a.moved_at
  ),
  event as (
    select customer_id, last_event as event_number, 'checkpoint.published' as type,
           json_build_object('customerId', customer_id, 'size', $2::bigint::text, 'root', encode($3::bytea, 'base64'),
                             'note', $4::text) as data,
           moved_at
    from numbered
  ),${emitEvents}
  select size from written`,
)

/** False: another process has just written an event of the platform; try again. */
export async function writeCheckpointEvent(
  database: Database,
  { size, root, note }: { size: number; root: Buffer; note: string },
): Promise<boolean> {
  return (await database.run(writeEventStatement, [platformCustomer, size, root, note])).length > 0
}

const endStatement = statement.global(
  'transparency.endPublication',
  'update log_checkpoints set published_at = clock_timestamp() where size = $1 and published_at is null',
)

export async function endPublication(database: Database, size: number): Promise<void> {
  await database.run(endStatement, [size])
}
