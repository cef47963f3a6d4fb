// `npm run -s explain -- NAME`: the final text of a statement, its values and its plan. A scenario runs on a database of its
// own; before it sends the statement for the first time, the statement is explained with those values, really run and
// rolled back. A statement that the scenario does not send is explained without values. Without NAME it lists the names.
import pg from 'pg'
import type { Statement } from '../../../src/db/database.ts'
import { refund } from '../../../src/payments/refunds/refund.ts'
import { paymentJobs } from '../../../src/worker/jobs.ts'
import { createTestDatabase } from '../database/database.ts'
import { globalSetup, globalTeardown } from '../database/global-setup.ts'
import type { TestService } from '../service/service.ts'
import { callEverything, watchedDatabase } from './every-call.ts'
import { allStatements } from './statements.ts'

/** The calls of sibling services, operators and the worker. */
async function doTheRest({ payments, newCustomer }: TestService): Promise<void> {
  const { credits } = payments
  const { customerId, confirmedOrder } = await newCustomer()
  const { orderId } = await confirmedOrder('PRO')
  const service = { customerId, serviceId: 'svc_explain' }
  await credits.spend({ ...service, credits: 3, reference: 'spend' })
  const holdId = crypto.randomUUID()
  await credits.openHold({ ...service, holdId, credits: 5, reference: 'hold', expiresInSeconds: 60 })
  await credits.extendHold({ ...service, holdId, expiresInSeconds: 120, mayManageHolds: false })
  await credits.capturePart({ ...service, holdId, credits: 1, reference: 'part' })
  await credits.findUse({ customerId, reference: 'part' })
  await credits.findHold({ ...service, holdId, mayManageHolds: false })
  const another = { ...service, serviceId: 'svc_another' }
  await credits.captureForeignHold({ ...another, holdId, captured: 1, reference: 'foreign' })
  await credits.endHold({ ...service, holdId, ending: 'CAPTURE', captured: 2 })
  await refund(payments, { orderId, reason: 'to be explained' })
  for (const { run } of paymentJobs(payments, [])) await run(new AbortController().signal)
}

/** As on the connections of requests: with generic plans. */
async function planOf(client: pg.Client, { text }: Statement, values?: unknown[]): Promise<string> {
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off; begin')
  const options = values ? 'analyze, buffers' : 'generic_plan'
  const { rows } = await client.query({ text: `explain (${options}) ${text}`, ...(values && { values }) })
  await client.query('rollback')
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

async function explain(wanted: Statement): Promise<string> {
  const database = await createTestDatabase()
  const client = new pg.Client(database.connection)
  await client.connect()
  try {
    let explained: string | undefined
    const watched = watchedDatabase(database, async ({ name, values }) => {
      if (name !== wanted.name || explained !== undefined) return
      explained = `-- values: ${JSON.stringify(values)}\n${await planOf(client, wanted, values)}`
    })
    await callEverything(watched, { afterwards: doTheRest })
    return explained ?? `-- not sent by the scenario: planned without values\n${await planOf(client, wanted)}`
  } finally {
    await client.end()
    await database.drop()
  }
}

const [name] = process.argv.slice(2)
const statements = await allStatements()
const text = statements.get(name ?? '')
if (name !== undefined && text !== undefined) {
  await globalSetup()
  try {
    process.stdout.write(`-- ${name}\n${text.trim()};\n\n${await explain({ name, text, about: 'global' })}\n`)
  } finally {
    await globalTeardown()
  }
} else {
  if (name !== undefined) process.stderr.write(`No statement is named ${name}. There are:\n`)
  process.stdout.write(`${[...statements.keys()].join('\n')}\n`)
  process.exitCode = name === undefined ? 0 : 2
}
