// The metrics of a service on a cluster. Only there: `npm run test:cluster`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterVariable } from '../support/database/database.ts'
import { startWholeService } from '../support/service/whole-service.ts'

const skip = process.env[clusterVariable] ? false : 'it needs a cluster: npm run test:cluster'

test('the backlog of all customers is in the metrics', { skip }, async (t) => {
  const { scrape } = await startWholeService(t)
  assert.match(await scrape(), /^credits_operations_open\{kind="confirm",state="waiting"\} 0$/m)
})
