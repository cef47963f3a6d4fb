// Commands about events: the endpoints that are told, their secrets, what was told, and what could not be delivered.
import { countDeadEvents, type DeadOf, deadEventsCountedTo, listDeadEvents } from '../events/dead.sql.ts'
import { findEndpoint, listEndpoints, updateEndpointStatus } from '../events/endpoints.sql.ts'
import { addEndpoint, enableEndpoint, removeEndpoint, rotateEndpoint } from '../events/endpoints.ts'
import { listLatestEvents } from '../events/events.sql.ts'
import { eventTypes } from '../events/outbox.sql.ts'
import { isPartlyResent, type Resent, resendDeadEvents } from '../events/resend.ts'
import type { Argument, Call, Command, Confirmation, Option, Values } from './command.ts'
import { customerAbout, customerOf } from './customer.ts'
import { customerOption } from './line/options.ts'

const listLimit = 1_000
const sampleId = 'end_7Qm2XvB0cKzR4tYpL9Ws'
const endpointArgument: Argument = { name: 'ENDPOINTID', about: 'the id of the endpoint', listedBy: 'endpoints list' }

/** To speak of some dead events only. */
const deadOptions = {
  endpoint: { value: 'ENDPOINTID', about: 'only those for this endpoint' },
  customer: { ...customerOption, about: 'only those about this customer, by name or by UUID', needed: false },
} satisfies Record<string, Option>

function readTypes(types: string | undefined): string[] {
  return types ? types.split(',').map((type) => type.trim()) : []
}

const namesOf = (types: string[]) => types.join(',') || 'all'

function checkUrl({ url = '' }: Values): string | undefined {
  const { username = '', password = '', hash = '' } = URL.parse(url) ?? {}
  return username || password || hash ? '--url takes no user, password or fragment' : undefined
}

function noEndpoint(endpointId: string): Error {
  return new Error(`There is no endpoint ${endpointId}.`)
}

/** For the commands that change one endpoint and say what it is now. */
function changes(status: string, change: (call: Call, endpointId: string) => Promise<boolean>) {
  return async (call: Call): Promise<object> => {
    const [endpointId = ''] = call.positionals
    if (!(await change(call, endpointId))) throw noEndpoint(endpointId)
    return { endpointId, status }
  }
}

async function listEventsOf(call: Call): Promise<object[]> {
  const events = await listLatestEvents(call.database, await customerOf(call), listLimit)
  return events.map(({ eventNumber, eventId, type, createdAt, data }) => {
    return { eventNumber, eventId, type, createdAt, data }
  })
}

/** Of an endpoint, of a customer, or of all. */
async function deadOf(call: Call): Promise<DeadOf> {
  const { endpoint: endpointId, customer } = call.values
  return { endpointId, customerId: customer === undefined ? undefined : await customerOf(call) }
}

async function listDead(call: Call): Promise<object[]> {
  const { database, values } = call
  const dead = await listDeadEvents(database, listLimit, await deadOf(call))
  // Too wide for a table.
  return values.json ? dead : dead.map(({ data: _, ...rest }) => rest)
}

/** Its secrets and what waits for it do not come back with another endpoint at the same address. */
async function confirmRemove({ database, positionals: [endpointId = ''] }: Call): Promise<Confirmation | undefined> {
  const endpoint = await findEndpoint(database, endpointId)
  if (!endpoint) return undefined
  const { url, status, types } = endpoint
  const counted = await countDeadEvents(database, deadEventsCountedTo, { endpointId })
  const deadEvents = counted < deadEventsCountedTo ? counted : `${deadEventsCountedTo} or more`
  const question = 'Remove it for good, with its secrets, what waits for it and its dead events?'
  return { will: { endpointId, url, status, types: namesOf(types), deadEvents }, question }
}

export const eventCommands: Command[] = [
  {
    name: 'endpoints add',
    does: 'Tells an endpoint what happens, from now on. Its secret is shown this once.',
    more: [
      'Every delivery is signed with the secret, and comes in order for each customer, at least once: docs/events.md.',
    ],
    options: {
      url: {
        value: 'URL',
        about: 'where events go',
        needed: true,
        expects: 'beginning with https:// or http://',
        accepts: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
      },
      types: { value: 'A,B', about: `only these: ${eventTypes.join(', ')}`, choices: eventTypes, many: true },
    },
    examples: [
      { line: 'endpoints add --url https://example.com/events', does: 'told everything' },
      {
        line: 'endpoints add --url https://example.com/events --types order.confirmed,order.refunded',
        does: 'told these two',
      },
    ],
    changes: true,
    check: ({ values }) => checkUrl(values),
    async run({ database, peppers, deliveries, values }) {
      const wanted = { url: values.url ?? '', types: readTypes(values.types) }
      const { outbound } = await deliveries()
      const fault = outbound.faultOf(wanted.url)
      if (fault) throw new Error(`Events cannot go there: ${fault}. For development: EVENT_PRIVATE_ADDRESSES=allow.`)
      const { endpointId, url, types, secret } = await addEndpoint(database, peppers()[0], wanted)
      return { endpointId, url, types: namesOf(types), secret }
    },
  },
  {
    name: 'endpoints rotate',
    does: 'Makes a new secret, shown this once. The old one signs too for a day.',
    arguments: [endpointArgument],
    examples: [{ line: `endpoints rotate ${sampleId}`, does: 'shows the new secret' }],
    changes: true,
    async run({ database, peppers, positionals: [endpointId = ''] }) {
      const secret = await rotateEndpoint(database, peppers()[0], endpointId)
      if (!secret) throw noEndpoint(endpointId)
      return { endpointId, secret }
    },
  },
  {
    name: 'endpoints disable',
    does: 'Stops deliveries to an endpoint; what happens meanwhile waits for it.',
    arguments: [endpointArgument],
    examples: [{ line: `endpoints disable ${sampleId}`, does: 'until endpoints enable' }],
    changes: true,
    run: changes('DISABLED', ({ database }, endpointId) => updateEndpointStatus(database, endpointId, 'DISABLED')),
  },
  {
    name: 'endpoints enable',
    does: 'Delivers to an endpoint again, what has waited first.',
    arguments: [endpointArgument],
    examples: [{ line: `endpoints enable ${sampleId}`, does: 'at once, whatever failed before' }],
    changes: true,
    run: changes('ACTIVE', ({ database }, endpointId) => enableEndpoint(database, endpointId)),
  },
  {
    name: 'endpoints remove',
    does: 'Removes an endpoint for good: its secrets, what waits for it and what is dead.',
    more: ['On a terminal it asks first. To stop deliveries for a while: endpoints disable.'],
    arguments: [endpointArgument],
    examples: [
      { line: `endpoints remove ${sampleId}`, does: 'asks on a terminal' },
      { line: `endpoints remove ${sampleId} --yes`, does: 'does not ask' },
    ],
    changes: true,
    confirm: confirmRemove,
    run: changes('REMOVED', ({ database }, endpointId) => removeEndpoint(database, endpointId)),
  },
  {
    name: 'endpoints list',
    does: `Lists the endpoints, ${listLimit} at most.`,
    examples: [{ line: 'endpoints list', does: 'a table, one endpoint a line' }],
    changes: false,
    async run({ database }) {
      const endpoints = await listEndpoints(database, listLimit)
      return endpoints.map(({ endpointId, url, types, status, secrets, createdAt }) => {
        return { endpointId, status, url, types: namesOf(types), secrets: secrets.length, createdAt }
      })
    },
  },
  {
    name: 'events list',
    does: `Lists what was told about a customer, newest first, up to ${listLimit}.`,
    options: { customer: customerOption },
    examples: [{ line: 'events list --customer acme', does: 'whether or not somebody listened' }],
    changes: false,
    run: listEventsOf,
  },
  {
    name: 'events dead',
    does: `Lists the events that could not be delivered for days. Up to ${listLimit}; what they say with --json.`,
    options: deadOptions,
    examples: [
      { line: 'events dead', does: 'all of them' },
      { line: `events dead --endpoint ${sampleId} --json`, does: 'of one endpoint, with their content' },
    ],
    changes: false,
    run: listDead,
  },
  {
    name: 'events resend',
    does: 'Sends dead events again, all or those named, the oldest of a customer first.',
    options: deadOptions,
    examples: [
      { line: 'events resend', does: 'everything that is dead' },
      { line: `events resend --endpoint ${sampleId} --customer acme`, does: 'what this endpoint missed about acme' },
    ],
    failsWhen: 'one is not taken',
    changes: true,
    about: customerAbout,
    async run(call) {
      const onProgress = (done: number, total: number) => call.onProgress('events', done, total)
      return resendDeadEvents(await call.deliveries(), await deadOf(call), onProgress)
    },
    failed: (result) => isPartlyResent(result as Resent),
  },
]
