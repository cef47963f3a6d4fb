// The statements on customers and their API keys.
import { uuidPattern } from '../core/ids.ts'
import { type Database, statement } from '../db/database.ts'
import { byOrdinal, inputs } from '../db/inputs.ts'
import { sql } from '../db/sql.ts'

const createCustomerStatement = statement.global(
  'customers.createCustomer',
  `insert into customers (customer_id, name) values ($1, $2)
  on conflict do nothing
  returning customer_id as "customerId"`,
)

const findCustomerStatement = statement.global(
  'customers.findCustomer',
  'select customer_id as "customerId" from customers where customer_id = $1 or name = $2',
)

/** The customer with that id or name; created with an empty account when there is none. */
export async function findOrCreateCustomer(
  database: Database,
  customerId: string,
  name: string | null,
): Promise<string> {
  type Row = { customerId: string }
  const [found] = await database.run<Row>(findCustomerStatement, [customerId, name])
  if (found) return found.customerId
  const [created] = await database.run<Row>(createCustomerStatement, [customerId, name])
  // Another process created it between the two statements.
  return created ? created.customerId : findOrCreateCustomer(database, customerId, name)
}

/** False when the name belongs to another customer. A repeated statement finds the customer that it created. */
export async function createCustomer(database: Database, customerId: string, name: string): Promise<boolean> {
  const created = await database.run(createCustomerStatement, [customerId, name])
  return created.length > 0 || (await findCustomer(database, customerId)) !== undefined
}

/** By id or by name; undefined when there is none. */
export async function findCustomer(database: Database, customer: string): Promise<string | undefined> {
  const id = uuidPattern.test(customer) ? customer.toLowerCase() : null
  const [found] = await database.run<{ customerId: string }>(findCustomerStatement, [id, id ? null : customer])
  return found?.customerId
}

const countKeysStatement = statement.global('customers.countKeys', 'select count(*) as "count" from api_keys')

export async function countKeys(database: Database): Promise<number> {
  const [row] = await database.run<{ count: number }>(countKeysStatement)
  return row?.count ?? 0
}

export type KeyStatus = 'ACTIVE' | 'SUSPENDED'

export type StoredKey = {
  keyId: string
  customerId: string
  pepperVersion: number
  keyHash: Buffer
  lastFour: string
  status: KeyStatus
}

const insertKeyStatement = statement.global(
  'customers.insertKey',
  `insert into api_keys (key_id, customer_id, pepper_version, key_hash, last_four)
  values ($1, $2, $3, $4, $5)
  on conflict (key_id) do nothing`,
)

export async function insertKey(database: Database, key: Omit<StoredKey, 'status'>): Promise<void> {
  await database.run(insertKeyStatement, [key.keyId, key.customerId, key.pepperVersion, key.keyHash, key.lastFour])
}

// Both or neither: a customer without a key could not be created again.
const createCustomerWithKeyStatement = statement.global(
  'customers.createCustomerWithKey',
  `with created as (
    insert into customers (customer_id, name) values ($1, $2)
    on conflict do nothing
    returning customer_id
  )
  insert into api_keys (key_id, customer_id, pepper_version, key_hash, last_four)
  select $3, customer_id, $4, $5, $6 from created
  returning key_id`,
)

/** Creates a customer with a first key; false when the name is taken. A repeated statement finds its own key. */
export async function createCustomerWithKey(
  database: Database,
  name: string,
  key: Omit<StoredKey, 'status'>,
): Promise<boolean> {
  const { customerId, keyId, pepperVersion, keyHash, lastFour } = key
  const values = [customerId, name, keyId, pepperVersion, keyHash, lastFour]
  const created = await database.run(createCustomerWithKeyStatement, values)
  return created.length > 0 || (await findKey(database, keyId)) !== undefined
}

// Both or neither: no customer is left with two active keys, or with none.
const replaceKeyStatement = statement.global(
  'customers.replaceKey',
  `with replaced as (
    update api_keys set status = 'SUSPENDED' where key_id = $1 and status = 'ACTIVE' returning customer_id
  )
  insert into api_keys (key_id, customer_id, pepper_version, key_hash, last_four)
  select $2, customer_id, $3, $4, $5 from replaced
  on conflict (key_id) do nothing
  returning customer_id as "customerId"`,
)

const findKeyStatement = statement.global(
  'customers.findKey',
  'select customer_id as "customerId", status from api_keys where key_id = $1',
)

/** Undefined when there is no such key. */
export async function findKey(
  database: Database,
  keyId: string,
): Promise<Pick<StoredKey, 'customerId' | 'status'> | undefined> {
  return (await database.run<Pick<StoredKey, 'customerId' | 'status'>>(findKeyStatement, [keyId]))[0]
}

/**
 * Suspends an active key and inserts another. Returns its customer, or undefined when the old key is not active. A repeated
 * statement finds its own key.
 */
export async function replaceKey(
  database: Database,
  oldKeyId: string,
  key: Omit<StoredKey, 'status' | 'customerId'>,
): Promise<string | undefined> {
  const { keyId, pepperVersion, keyHash, lastFour } = key
  const values = [oldKeyId, keyId, pepperVersion, keyHash, lastFour]
  const [replaced] = await database.run<{ customerId: string }>(replaceKeyStatement, values)
  return (replaced ?? (await findKey(database, keyId)))?.customerId
}

const updateKeyStatusStatement = statement.global(
  'customers.updateKeyStatus',
  'update api_keys set status = $2 where key_id = $1 returning key_id',
)

/** Whether there is such a key. */
export async function updateKeyStatus(database: Database, keyId: string, status: KeyStatus): Promise<boolean> {
  const rows = await database.run(updateKeyStatusStatement, [keyId, status])
  return rows.length > 0
}

export type ListedKey = {
  keyId: string
  customerId: string
  customerName: string | null
  /** Then the key is refused, whatever its own status is. */
  customerSuspended: boolean
  lastFour: string
  status: KeyStatus
  /** The version of the pepper that it is hashed under. */
  secretVersion: number
  createdAt: Date
}

const listKeysStatement = statement.global(
  'customers.listKeys',
  `select k.key_id as "keyId", k.customer_id as "customerId", c.name as "customerName",
    c.suspended_at is not null as "customerSuspended", k.last_four as "lastFour", k.status,
    k.pepper_version as "secretVersion", k.created_at as "createdAt"
  from api_keys k
  join customers c using (customer_id)
  order by k.created_at desc, k.key_id
  limit $1`,
)

export function listKeys(database: Database, limit: number): Promise<ListedKey[]> {
  return database.run<ListedKey>(listKeysStatement, [limit])
}

export type KeyHash = { pepperVersion: number; keyHash: Buffer }
export type FoundKey = { keyId: string; customerId: string; keyHash: Buffer; status: KeyStatus }

const hashes = inputs<KeyHash>({ pepperVersion: 'int', keyHash: 'bytea' })

const findKeysStatement = statement.global(
  'customers.findKeys',
  sql`select i.ordinal, k.key_id as "keyId", k.customer_id as "customerId", k.key_hash as "keyHash",
    case when c.suspended_at is null then k.status else 'SUSPENDED' end as "status"
  from unnest(${hashes.arrays}) with ordinality as i (${hashes.columns}, ordinal)
  join api_keys k using (pepper_version, key_hash)
  join customers c using (customer_id)`,
)

const findSuspendedKeysStatement = statement.global(
  'customers.findSuspendedKeys',
  `select key_id as "keyId" from api_keys
  where status = 'SUSPENDED' and suspended_at > now() - $1 * interval '1 ms'
  union all
  select k.key_id from customers c
  join api_keys k using (customer_id)
  where c.suspended_at > now() - $1 * interval '1 ms'
  limit $2`,
)

/** The keys that were suspended within that time and still are, with all keys of customers that were. */
export async function findSuspendedKeys(database: Database, withinMs: number, limit: number): Promise<string[]> {
  const rows = await database.run<{ keyId: string }>(findSuspendedKeysStatement, [withinMs, limit])
  return rows.map((row) => row.keyId)
}

const suspendStatement = statement.global(
  'customers.suspendCustomer',
  'update customers set suspended_at = now() where customer_id = $1 and suspended_at is null returning customer_id',
)

const activateStatement = statement.global(
  'customers.activateCustomer',
  'update customers set suspended_at = null where customer_id = $1 and suspended_at is not null returning customer_id',
)

/**
 * Suspends a customer, or ends that. All keys of a suspended customer are refused, and its spends and holds; a trigger marks the
 * account. False when there is no such customer.
 */
export async function updateSuspension(database: Database, customerId: string, isSuspended: boolean): Promise<boolean> {
  const changed = await database.run(isSuspended ? suspendStatement : activateStatement, [customerId])
  return changed.length > 0 || (await findCustomer(database, customerId)) !== undefined
}

const renewKeyHashStatement = statement.global(
  'customers.renewKeyHash',
  'update api_keys set pepper_version = $2, key_hash = $3 where key_id = $1 and pepper_version < $2',
)

export async function renewKeyHash(database: Database, keyId: string, hash: KeyHash): Promise<void> {
  await database.run(renewKeyHashStatement, [keyId, hash.pepperVersion, hash.keyHash])
}

/** The keys with these hashes, one per input, null where there is none. */
export async function findKeys(database: Database, all: KeyHash[]): Promise<(FoundKey | null)[]> {
  return byOrdinal(all, await database.run<FoundKey & { ordinal: number }>(findKeysStatement, hashes.valuesOf(all)))
}
