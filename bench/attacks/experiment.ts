// One attack: a random entry that is covered by what a holder has kept is changed, inserted, removed or exchanged, everything
// that depends on it is repaired, the log too or not, and then the holder's checkpoint is compared with the books. All of it
// is one transaction, which is rolled back. An attack that the rules of the books would notice is not one: another is drawn.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { createRandom, type Random } from '../../harness/random.ts'
import type { Database } from '../../src/db/database.ts'
import { attackOf, type Entry, NotPossible, type Verb } from './attacks.ts'
import type { Changed } from './forged-ledger.ts'
import { drawForgery, forgeLog, type LogForgery, type RealLog } from './forged-log.ts'
import { findFirst, type Kept } from './holders.ts'
import { brokenRulesOf } from './rules.ts'

export type Attacked = {
  verb: Verb
  object: string
  log: LogForgery
  kept: Kept['what']
  /** Entries that were drawn in vain: the attack was not possible there. */
  drawnInVain: number
  /** What the rules of the books alone would have found of attacks that were given up. */
  noticed: string[]
  entry: Pick<Entry, 'customerId' | 'entryNumber' | 'kind'>
  /** The first finding; null: the attack was not found. */
  found: string | null
  attackMs: number
  checkMs: number
}

export type Setting = {
  /** With every right, on a connection of its own. */
  client: pg.ClientBase
  /** On the same connection: it sees what the attacker has done. */
  database: Database
  log: RealLog
  kept: readonly [Kept, ...Kept[]]
  seed: number
}

const entryText = `
  select e.customer_id as "customerId", e.entry_number as "entryNumber", e.kind, e.delta, e.held_delta as "heldDelta",
         e.order_id as "orderId", e.reference, e.hold_id as "holdId", e.service_id as "serviceId",
         coalesce(o.status, h.state) as status, o.package_type as "packageType",
         exists (select from adjustments d
                 where d.customer_id = e.customer_id and d.reversed_entry = e.entry_number) as "isReversed"
  from (select * from log_runs where first_leaf <= $1 order by first_leaf desc limit 1) r
  join ledger_entries e on e.customer_id = r.customer_id and e.entry_number = r.first_entry + $1 - r.first_leaf
  left join orders o on o.customer_id = e.customer_id and o.order_id = e.order_id
  left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id`

async function entryAt(client: pg.ClientBase, leaf: number): Promise<Entry> {
  const { rows } = await client.query<Entry>(entryText, [leaf])
  const [entry] = rows
  if (!entry) throw new Error(`leaf ${leaf} has no entry`)
  return entry
}

/** After this many entries on which an attack was not possible, another attack is drawn. */
const drawsOfAttack = 100
const mostDraws = 5_000

/** What the number-th attack is, follows from the seed. */
export async function attackOnce(setting: Setting, number: number): Promise<Attacked> {
  const { client, kept: all } = setting
  const random = createRandom(createHash('sha256').update(`${setting.seed} ${number}`).digest().readUInt32BE())
  let attack = attackOf(random)
  const log = drawForgery(random)
  const kept = random.pick(all)
  const noticed: string[] = []
  for (let drawnInVain = 0; drawnInVain < mostDraws; drawnInVain += 1) {
    if (drawnInVain % drawsOfAttack === drawsOfAttack - 1) attack = attackOf(random)
    const entry = await entryAt(client, random.integer(0, kept.size - 1))
    const startedAt = performance.now()
    await client.query('begin')
    try {
      await client.query('set local session_replication_role = replica')
      const changed = await apply(setting, attack, entry, random, kept)
      const broken = changed ? await listBroken(setting, changed) : []
      noticed.push(...broken)
      if (!changed || broken.length > 0) continue
      await forgeLog(client, log, setting.log, changed, random)
      await client.query('set local session_replication_role = origin')
      const checkedAt = performance.now()
      const found = await findFirst(setting.database, kept)
      const { customerId, entryNumber, kind } = entry
      return {
        verb: attack.verb,
        object: attack.object,
        log,
        kept: kept.what,
        drawnInVain,
        noticed,
        entry: { customerId, entryNumber, kind },
        found,
        attackMs: checkedAt - startedAt,
        checkMs: performance.now() - checkedAt,
      }
    } finally {
      await client.query('rollback')
    }
  }
  throw new Error(`attack ${number}: none was possible on ${mostDraws} entries`)
}

const refusedByTheSchema = /^23/

/** The customers that were changed; null: it is not possible on this entry. */
async function apply(
  { client }: Setting,
  attack: Pick<ReturnType<typeof attackOf>, 'run'>,
  entry: Entry,
  random: Random,
  kept: Kept,
): Promise<Changed[] | null> {
  await client.query('delete from forged.entries')
  const findOther = () => entryAt(client, random.integer(0, kept.size - 1))
  try {
    return await attack.run({ client, random, entry, findOther })
  } catch (error) {
    const isRefused = refusedByTheSchema.test((error as { code?: string }).code ?? '')
    if (error instanceof NotPossible || isRefused) return null
    throw error
  }
}

async function listBroken({ client, database }: Setting, changed: Changed[]): Promise<string[]> {
  const broken: string[] = []
  for (const { customerId } of changed) broken.push(...(await brokenRulesOf(client, database, customerId)))
  return broken
}
