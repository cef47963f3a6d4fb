// Plain inserts from a process of its own, where there is no pgbench: some connections, each with one prepared
// statement under way.
import pg from 'pg'
import { newOrderId } from '../../src/core/ids.ts'
import { insertOrderText } from './insert-statement.ts'

export type InsertsInput = {
  connection: pg.ClientConfig
  customerIds: string[]
  clients: number
  warmSeconds: number
  seconds: number
}
export type InsertsOutput = { perSecond: number }

const statement = { name: 'insert', text: insertOrderText({ customerId: '$1', orderId: '$2' }) }

process.once('message', async (input: InsertsInput) => {
  const perSecond = await insertAll(input)
  const output: InsertsOutput = { perSecond }
  process.send?.(output, undefined, undefined, () => process.exit(0))
})

async function insertAll({ connection, customerIds, clients, warmSeconds, seconds }: InsertsInput): Promise<number> {
  const opened = Array.from({ length: clients }, () => new pg.Client(connection))
  await Promise.all(opened.map((client) => client.connect()))
  const beganAt = performance.now() + warmSeconds * 1_000
  const endsAt = beganAt + seconds * 1_000
  let inserts = 0

  async function loop(client: pg.Client): Promise<void> {
    for (let now = performance.now(); now < endsAt; ) {
      const customerId = customerIds[Math.floor(Math.random() * customerIds.length)]
      await client.query({ ...statement, values: [customerId, newOrderId()] })
      now = performance.now()
      if (now >= beganAt && now < endsAt) inserts += 1
    }
  }

  await Promise.all(opened.map(loop))
  return inserts / seconds
}
