// Not part of `npm test`: test/run.test.ts runs it. Its books are wrong when its service closes.
import { after, before, test } from 'node:test'
import { type SpendingService, startSpendingService } from '../spending/spending.ts'

let service: SpendingService
before(async () => {
  service = await startSpendingService()
})
after(() => service.close())

test('credits that no entry of the ledger explains', async () => {
  const { customerId } = await service.customerWith(1)
  await service.database.query(
    `begin; set local session_replication_role = replica;
     update accounts set balance = balance + 1 where customer_id = '${customerId}'; commit`,
  )
})
