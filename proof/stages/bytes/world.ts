// What is sent to: one service with its database and gateway, with the settings of production; customers with keys, one of them
// suspended, and tokens of services, one of them suspended.
import * as processes from '../../../harness/processes.ts'
import { updateKeyStatus } from '../../../src/customers/customers.sql.ts'
import { updateTokenStatus } from '../../../src/customers/service-tokens.sql.ts'
import type { IssuedToken } from '../../../src/customers/service-tokens.ts'
import { startPostgres } from '../../world/postgres.ts'
import type { ServiceProcess } from '../../world/service.ts'
import { type Customer, openShop } from '../../world/shop.ts'
import { type ProcessWorld, startWorld } from '../../world/world.ts'
import type { Values } from './cases/stand-ins.ts'
import type { Target } from './trial/trial.ts'
import { collectOnSignal } from './watch.ts'

export type FuzzedWorld = Target & {
  world: ProcessWorld
  service: ServiceProcess
  /** For the stand-ins at the start. */
  values: Values
  /** A customer's program that sends valid requests. */
  caller: processes.Caller
}

/** Everything it starts ends with `parts`. */
export async function startFuzzedWorld(seed: number, parts: AsyncDisposableStack): Promise<FuzzedWorld> {
  const settings = { NODE_OPTIONS: collectOnSignal }
  const world = await startWorld({ seed, startDatabase: startPostgres, names: ['a'], settings, strict: false })
  parts.defer(() => world.removeDirectory())
  parts.defer(() => world.stopProcesses())
  const [service] = world.services
  const shop = await openShop(world, 5)
  parts.defer(() => shop.close())
  const [own, other, suspended] = shop.customers as [Customer, Customer, Customer]
  const [sibling, former] = shop.siblings as [IssuedToken, IssuedToken]
  await updateKeyStatus(shop.database, suspended.key.keyId, 'SUSPENDED')
  await updateTokenStatus(shop.database, former.serviceId, 'SUSPENDED')
  const values: Values = {
    apiKey: own.key.apiKey,
    otherApiKey: other.key.apiKey,
    suspendedApiKey: suspended.key.apiKey,
    token: sibling.token,
    suspendedToken: former.token,
    webhookToken: world.environment.WEBHOOK_TOKEN ?? '',
    customerId: own.customerId,
    otherCustomerId: other.customerId,
    // None exist before the first purchase and hold.
    orderId: `ord_${'9'.repeat(36)}`,
    holdId: '00000000-0000-4000-8000-00000000dead',
  }
  const caller = processes.callerOf(service.publicUrl, values.apiKey)
  await fillAccount(caller)
  const { apiKey, otherApiKey, suspendedApiKey, token, suspendedToken } = values
  const issued = { apiKey, otherApiKey, suspendedApiKey, token, suspendedToken }
  return { world, service, ports: service.ports, values, secrets: { ...world.secrets, ...issued }, caller }
}

/** So that credits can be spent from the start. */
async function fillAccount(caller: processes.Caller): Promise<void> {
  const { body } = await caller.purchase('PRO')
  const { status } = await caller.confirm(body.data.orderId, body.data.amount)
  if (status !== 200) throw new Error(`The first payment was answered with ${status}`)
}
