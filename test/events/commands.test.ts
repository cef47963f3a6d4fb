// The operator's commands about endpoints and events, as the command line calls them: check, then run.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { Command, Values } from '../../src/commands/command.ts'
import { faultIn } from '../../src/commands/line/parse.ts'
import { render } from '../../src/commands/line/render.ts'
import { eventCommands } from '../../src/commands/nouns/event-commands.ts'
import type { OutboundOptions } from '../../src/events/outbound.ts'
import { eventTypes } from '../../src/events/outbox.sql.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { createEventWorld, deliver, type EventWorld, slowSettings } from '../support/events/world.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { testPeppers } from '../support/service/service.ts'

let world: EventWorld
before(async () => {
  world = await createEventWorld()
})
after(() => world.close())
let consumer: Consumer
beforeEach(async () => {
  consumer = await startConsumer()
})
afterEach(async () => {
  await consumer.close()
  for (const { endpointId } of await run<{ endpointId: string }[]>('endpoints list')) {
    await run(`endpoints remove ${endpointId}`)
  }
})

function find(line: string): { command: Command; positionals: string[] } {
  const parts = line.split(' ')
  const command = eventCommands.find(({ name }) => name === parts.slice(0, 2).join(' '))
  return { command: command ?? assert.fail(`no command ${line}`), positionals: parts.slice(2) }
}

function check(line: string, values: Values = {}): string | undefined {
  const { command, positionals } = find(line)
  return faultIn(command, { positionals, values })
}

function run<Result = Record<string, unknown>>(
  line: string,
  values: Values = {},
  outbound: Partial<OutboundOptions> = {},
): Promise<Result> {
  const { command, positionals } = find(line)
  return callCommand(
    [command],
    command.name,
    { positionals, values },
    {
      database: world.database,
      peppers: () => testPeppers,
      deliveries: async () => world.context(slowSettings, { outbound }),
    },
  )
}

type Added = { endpointId: string; url: string; types: string; secret: string }
async function add(types?: string): Promise<Added> {
  const added = await run<Added>('endpoints add', { url: consumer.url, ...(types && { types }) })
  consumer.secrets.push(added.secret)
  return added
}

const statusOf = async (endpointId: string) =>
  (await run<Record<string, string>[]>('endpoints list')).find((each) => each.endpointId === endpointId)?.status

test('endpoints add shows the secret once; endpoints list shows the endpoint without it', async () => {
  const added = await add('order.failed, credits.low')
  assert.deepEqual(Object.keys(added), ['endpointId', 'url', 'types', 'secret'])
  assert.match(added.endpointId, /^end_[0-9A-Za-z]{20}$/)
  assert.match(added.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const [listed] = await run<Record<string, unknown>[]>('endpoints list')
  const { endpointId, url } = added
  const { createdAt, ...others } = listed ?? {}
  assert.deepEqual(others, { endpointId, status: 'ACTIVE', url, types: 'order.failed,credits.low', secrets: 1 })
  assert.ok(createdAt instanceof Date)
  assert.equal((await add()).types, 'all')
})

test('endpoints list shows the endpoints in the order in which they were added', async () => {
  const added: string[] = []
  for (let each = 0; each < 5; each += 1) added.push((await add()).endpointId)
  const listed = (await run<Added[]>('endpoints list')).map(({ endpointId }) => endpointId)
  assert.deepEqual(listed.slice(-5), added)
})

test('endpoints disable, enable and rotate work, and waiting events are delivered', async () => {
  const { endpointId } = await add()
  const customerId = await world.newCustomer()
  assert.deepEqual(await run(`endpoints disable ${endpointId}`), { endpointId, status: 'DISABLED' })
  assert.equal(await statusOf(endpointId), 'DISABLED')
  await world.emit(customerId)
  await deliver(world.context())
  assert.deepEqual(consumer.received, [])
  const rotated = await run<{ endpointId: string; secret: string }>(`endpoints rotate ${endpointId}`)
  assert.deepEqual(Object.keys(rotated), ['endpointId', 'secret'])
  consumer.secrets.splice(0, 1, rotated.secret)
  assert.deepEqual(await run(`endpoints enable ${endpointId}`), { endpointId, status: 'ACTIVE' })
  await deliver(world.context())
  assert.deepEqual(consumer.taken(), [1])
})

test('endpoints remove removes; a repetition gives the same result, and no other command finds the endpoint', async () => {
  const { endpointId } = await add()
  for (let count = 0; count < 2; count += 1) {
    assert.deepEqual(await run(`endpoints remove ${endpointId}`), { endpointId, status: 'REMOVED' })
  }
  assert.equal(await statusOf(endpointId), undefined)
  for (const verb of ['rotate', 'disable', 'enable']) {
    await assert.rejects(run(`endpoints ${verb} ${endpointId}`), { message: `There is no endpoint ${endpointId}.` })
  }
})

test('an unknown endpoint is named in the error', async () => {
  for (const verb of ['rotate', 'disable', 'enable', 'remove']) {
    await assert.rejects(run(`endpoints ${verb} end_none`), { message: 'There is no endpoint end_none.' })
  }
})

test('endpoints add outside of development accepts only https at public addresses, and stores nothing else', async () => {
  const refused = { allowPrivate: false }
  for (const [url, expected] of [
    ['http://hooks.example/', 'the URL does not begin with https://'],
    ['https://127.0.0.1/', '127.0.0.1 is not a public address'],
    ['https://[::1]/', '::1 is not a public address'],
    ['https://hooks.example:25/', 'port 25 is neither 443 nor at least 1024'],
  ] as const) {
    const message = `Events cannot be sent there: ${expected}. For development: EVENT_PRIVATE_ADDRESSES=allow.`
    await assert.rejects(run('endpoints add', { url }, refused), { message })
  }
  assert.deepEqual(await run('endpoints list'), [])
  assert.equal((await run<Added>('endpoints add', { url: 'https://hooks.example/a?b=c' }, refused)).types, 'all')
})

test('events list shows the events, newest first, with or without an endpoint', async () => {
  const customerId = await world.newCustomer()
  await world.emit(customerId)
  await world.emit(customerId, 'order.refunded')
  const [row] = await world.query<{ name: string }>('select name from customers where customer_id = $1', [customerId])
  for (const customer of [customerId, row?.name ?? customerId]) {
    const events = await run<Record<string, unknown>[]>('events list', { customer })
    assert.deepEqual(
      events.map(({ eventNumber, type, data }) => [eventNumber, type, data]),
      [
        [2, 'order.refunded', { customerId, number: 2 }],
        [1, 'order.confirmed', { customerId, number: 1 }],
      ],
    )
  }
  await assert.rejects(run('events list', { customer: 'unknown' }), { message: 'There is no customer unknown.' })
})

test('events dead shows the dead letters, with data by --json; events resend sends them, and fails when one is not accepted', async () => {
  const { endpointId } = await add()
  const customerId = await world.newCustomer()
  await world.emit(customerId)
  consumer.react = () => 500
  await deliver(world.context())
  await world.passHours(73)
  await deliver(world.context())
  const names = ['customerId', 'customerName', 'endpointId', 'eventNumber', 'type', 'attempts', 'lastError', 'diedAt']
  const [dead = {}] = await run<object[]>('events dead')
  assert.deepEqual(Object.keys(dead), names)
  const [whole = {}] = await run<object[]>('events dead', { json: true, endpoint: endpointId })
  assert.deepEqual(Object.keys(whole), [...names, 'data'])
  assert.deepEqual(await run('events dead', { endpoint: 'end_other' }), [])
  const { command } = find('events resend')
  const failed = await run('events resend')
  const error = { customerId, endpointId, eventNumber: 1, type: 'order.confirmed', error: 'HTTP 500' }
  assert.deepEqual(failed, { resent: 0, left: 0, failed: [error] })
  assert.equal(command.failed?.(failed), true)
  assert.match(render(failed), /^resent: +0\nleft: +0\n\nfailed\ncustomerId .*\n.* HTTP 500\n$/)
  consumer.react = () => 200
  const resent = await run('events resend', { endpoint: endpointId })
  assert.deepEqual([resent, command.failed?.(resent)], [{ resent: 1, left: 0, failed: [] }, false])
  assert.deepEqual(await run('events dead'), [])
})

const wrong: { line: string; values?: Values; expected: string }[] = [
  { line: 'endpoints add', expected: '--url URL is needed, beginning with https:// or http://' },
  {
    line: 'endpoints add',
    values: { url: 'hooks.example' },
    expected: '--url URL is needed, beginning with https:// or http://',
  },
  {
    line: 'endpoints add',
    values: { url: 'ftp://a/' },
    expected: '--url URL is needed, beginning with https:// or http://',
  },
  { line: 'endpoints add', values: { url: 'https://u:p@a/' }, expected: '--url takes no user, password or fragment' },
  { line: 'endpoints add', values: { url: 'https://a/#b' }, expected: '--url takes no user, password or fragment' },
  {
    line: 'endpoints add',
    values: { url: 'https://a/', types: 'order.confirmed,order.paid' },
    expected: `--types: "order.paid" is not one of ${eventTypes.join(', ')}`,
  },
  { line: 'endpoints add https://a/', expected: 'unexpected argument "https://a/": put a text with spaces in quotes' },
  ...['rotate', 'disable', 'enable', 'remove'].map((verb) => ({
    line: `endpoints ${verb}`,
    expected: 'exactly one ENDPOINTID is needed (see: endpoints list)',
  })),
  {
    line: 'endpoints remove a b',
    expected: 'exactly one ENDPOINTID is needed (see: endpoints list); put a text with spaces in quotes',
  },
  { line: 'endpoints list all', expected: 'unexpected argument "all": put a text with spaces in quotes' },
  { line: 'events list', expected: '--customer NAME|UUID is needed' },
  { line: 'events dead all', expected: 'unexpected argument "all": put a text with spaces in quotes' },
  { line: 'events resend all', expected: 'unexpected argument "all": put a text with spaces in quotes' },
]
for (const { line, values, expected } of wrong) {
  test(`"${line}"${values ? ` with ${JSON.stringify(values)}` : ''} is refused: ${expected}`, () => {
    assert.equal(check(line, values), expected)
  })
}
