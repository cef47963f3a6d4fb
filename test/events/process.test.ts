// Events from setup by an operator to a consumer: the whole service and the command line.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cleaner, usedDataDir } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { callCli } from '../support/service/cli-call.ts'
import { type Client, clientOf } from '../support/service/clients.ts'
import { type ServiceInProcess, startInProcess } from '../support/service/in-process.ts'

const wholeFile = { after }
const dataDir = await usedDataDir(wholeFile)
const settings = { EVENT_FIRST_PAUSE_MS: '20', EVENT_RETRY_MAX_MS: '40' }
let consumer: Consumer
let service: ServiceInProcess
let client: Client
let apiKey = ''
let endpointId = ''

async function run(t: Cleaner, args: string[], environment: Record<string, string> = {}) {
  const { code, stdout, stderr } = await callCli(t, dataDir, [...args, '--json'], { ...settings, ...environment })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

before(async () => {
  consumer = await startConsumer()
  service = await startInProcess(wholeFile, dataDir, settings)
  apiKey = (await run(wholeFile, ['keys', 'issue', '--customer', 'events'])).apiKey
  client = clientOf(service.publicUrl, apiKey)
})
after(() => consumer.close())

async function confirmOrder(): Promise<string> {
  return client.buy('BASIC')
}

test('after endpoints add, later orders are sent as events', async (t) => {
  await confirmOrder()
  const added = await run(t, ['endpoints', 'add', '--url', consumer.url, '--types', 'order.confirmed'])
  consumer.secrets.push(added.secret)
  endpointId = added.endpointId
  const orderId = await confirmOrder()
  await until('the event is received', () => consumer.received.length === 1)
  const { payload } = consumer.received[0] ?? assert.fail('nothing was received')
  assert.deepEqual([payload.type, payload.sequence, payload.data.orderId], ['order.confirmed', 2, orderId])
})

test('a service that is stopped while a consumer fails continues after its next start; the secret is not logged', async () => {
  consumer.react = () => 500
  await confirmOrder()
  await confirmOrder()
  await until('the event is attempted', () => consumer.received.length >= 2)
  const before = service.lines
  await service.close()
  consumer.react = () => 200
  service = await startInProcess(wholeFile, dataDir, settings)
  client = clientOf(service.publicUrl, apiKey)
  await until('all events are received', () => consumer.taken().length >= 3)
  assert.deepEqual([...new Set(consumer.taken())], [2, 3, 4])
  const logged = JSON.stringify([before, service.lines])
  for (const secret of consumer.secrets) assert.ok(!logged.includes(secret.slice(6)))
  assert.ok(!logged.includes('/events"'))
})

test('endpoints add of a private address in production mode is one line and exit code 1', async (t) => {
  const environment = { EVENT_PRIVATE_ADDRESSES: 'refuse' }
  const { code, stdout, stderr } = await callCli(t, dataDir, ['endpoints', 'add', '--url', consumer.url], environment)
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^Events cannot be sent there: the URL does not begin with https:\/\/\. .*\n$/)
})

test('endpoints remove removes the endpoint, which gets no more events; an unknown verb is exit code 2', async (t) => {
  assert.deepEqual(await run(t, ['endpoints', 'remove', endpointId]), { endpointId, status: 'REMOVED' })
  assert.deepEqual(await run(t, ['endpoints', 'list']), [])
  const { code, stderr } = await callCli(t, dataDir, ['endpoints', 'burn'])
  assert.equal(code, 2)
  assert.match(stderr, /^There is no command "endpoints burn"\. Commands of endpoints: add, .*remove/)
})
