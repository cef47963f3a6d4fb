// Commands about events: webhook endpoints and their secrets, a customer's events, dead events.
import { withCustomerNames } from '../../customers/names.sql.ts'
import { countDeadEvents, type DeadOf, deadEventsCountedTo, listDeadEvents } from '../../events/dead.sql.ts'
import { findEndpoint, listEndpoints, updateEndpointStatus } from '../../events/endpoints.sql.ts'
import { addEndpoint, enableEndpoint, removeEndpoint, rotateEndpoint } from '../../events/endpoints.ts'
import { listLatestEvents } from '../../events/events.sql.ts'
import { eventTypes } from '../../events/outbox.sql.ts'
import { isPartlyResent, type Resent, resendDeadEvents } from '../../events/resend.ts'
import type { Argument, Call, Command, Confirmation, Option, Values } from '../command.ts'
import { customerOption } from '../line/options.ts'
import { requireQueueId } from './customer-option.ts'

const listLimit = 1_000
const sampleId = 'end_7Qm2XvB0cKzR4tYpL9Ws'
const endpointArgument: Argument = {
  name: 'ENDPOINTID',
  description: 'the id of the endpoint',
  listedBy: 'endpoints list',
}

/** Filters of dead events. */
const deadOptions = {
  endpoint: { value: 'ENDPOINTID', description: 'only events for this endpoint' },
  customer: { ...customerOption, description: 'only events about this customer, by name or UUID', required: false },
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

/** For the commands that change one endpoint and show its new status. */
function changeStatus(status: string, change: (call: Call, endpointId: string) => Promise<boolean>) {
  return async (call: Call): Promise<object> => {
    const [endpointId = ''] = call.positionals
    if (!(await change(call, endpointId))) throw noEndpoint(endpointId)
    return { endpointId, status }
  }
}

async function listRequestedEvents(call: Call): Promise<object[]> {
  const events = await listLatestEvents(call.database, await requireQueueId(call), listLimit)
  return events.map(({ eventNumber, eventId, type, createdAt, data }) => {
    return { eventNumber, eventId, type, createdAt, data }
  })
}

async function deadFilterOf(call: Call): Promise<DeadOf> {
  const { endpoint: endpointId, customer } = call.values
  return { endpointId, customerId: customer === undefined ? undefined : await requireQueueId(call) }
}

async function listDead(call: Call): Promise<object[]> {
  const { database, values } = call
  const dead = await withCustomerNames(database, await listDeadEvents(database, listLimit, await deadFilterOf(call)))
  // `data` is too wide for a table.
  return values.json ? dead : dead.map(({ data: _, ...rest }) => rest)
}

/** A new endpoint at the same URL gets neither the secrets nor the queued events of the removed one. */
async function confirmRemove({ database, positionals: [endpointId = ''] }: Call): Promise<Confirmation | undefined> {
  const endpoint = await findEndpoint(database, endpointId)
  if (!endpoint) return undefined
  const { url, status, types } = endpoint
  const counted = await countDeadEvents(database, deadEventsCountedTo, { endpointId })
  const deadEvents = counted < deadEventsCountedTo ? counted : `${deadEventsCountedTo} or more`
  const question = 'Remove this endpoint permanently, with its secrets, its queued events and its dead events?'
  return { preview: { endpointId, url, status, types: namesOf(types), deadEvents }, question }
}

export const eventCommands: Command[] = [
  {
    name: 'endpoints add',
    summary: 'Registers a webhook endpoint and prints its secret once.',
    details: [
      'It receives the events from now on. Every delivery is signed with the secret. Events of one customer are delivered in ' +
        'order, each at least once: docs/events.md.',
    ],
    options: {
      url: {
        value: 'URL',
        description: 'the URL that receives the events',
        required: true,
        expects: 'beginning with https:// or http://',
        accepts: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
      },
      types: {
        value: 'A,B',
        description: `only events of these types: ${eventTypes.join(', ')}`,
        choices: eventTypes,
        isList: true,
      },
    },
    examples: [
      { line: 'endpoints add --url https://example.com/events', description: 'receives all events' },
      {
        line: 'endpoints add --url https://example.com/events --types order.confirmed,order.refunded',
        description: 'receives these two types',
      },
    ],
    changesData: true,
    check: ({ values }) => checkUrl(values),
    async run({ database, peppers, deliveries, values }) {
      const wanted = { url: values.url ?? '', types: readTypes(values.types) }
      const { outbound } = await deliveries()
      const fault = outbound.faultOf(wanted.url)
      if (fault)
        throw new Error(`Events cannot be sent there: ${fault}. For development: EVENT_PRIVATE_ADDRESSES=allow.`)
      const { endpointId, url, types, secret } = await addEndpoint(database, peppers()[0], wanted)
      return { endpointId, url, types: namesOf(types), secret }
    },
  },
  {
    name: 'endpoints rotate',
    summary:
      'Creates a new secret for an endpoint and prints it once. Deliveries are signed with both secrets for a day.',
    arguments: [endpointArgument],
    examples: [{ line: `endpoints rotate ${sampleId}`, description: 'prints the new secret' }],
    changesData: true,
    async run({ database, peppers, positionals: [endpointId = ''] }) {
      const secret = await rotateEndpoint(database, peppers()[0], endpointId)
      if (!secret) throw noEndpoint(endpointId)
      return { endpointId, secret }
    },
  },
  {
    name: 'endpoints disable',
    summary: 'Stops deliveries to an endpoint. Its events are queued meanwhile.',
    arguments: [endpointArgument],
    examples: [{ line: `endpoints disable ${sampleId}`, description: 'until endpoints enable' }],
    changesData: true,
    run: changeStatus('DISABLED', ({ database }, endpointId) => updateEndpointStatus(database, endpointId, 'DISABLED')),
  },
  {
    name: 'endpoints enable',
    summary: 'Resumes deliveries to an endpoint, the queued events first.',
    arguments: [endpointArgument],
    examples: [
      {
        line: `endpoints enable ${sampleId}`,
        description: 'at once, without waiting for the backoff of earlier failures',
      },
    ],
    changesData: true,
    run: changeStatus('ACTIVE', ({ database }, endpointId) => enableEndpoint(database, endpointId)),
  },
  {
    name: 'endpoints remove',
    summary: 'Removes an endpoint permanently, with its secrets, its queued events and its dead events.',
    details: ['On a terminal it asks for confirmation. To stop deliveries for a while: endpoints disable.'],
    arguments: [endpointArgument],
    examples: [
      { line: `endpoints remove ${sampleId}`, description: 'asks for confirmation on a terminal' },
      { line: `endpoints remove ${sampleId} --yes`, description: 'does not ask' },
    ],
    changesData: true,
    confirm: confirmRemove,
    run: changeStatus('REMOVED', ({ database }, endpointId) => removeEndpoint(database, endpointId)),
  },
  {
    name: 'endpoints list',
    summary: `Lists the endpoints, at most ${listLimit}.`,
    examples: [{ line: 'endpoints list', description: 'a table, one line per endpoint' }],
    changesData: false,
    async run({ database }) {
      const endpoints = await listEndpoints(database, listLimit)
      return endpoints.map(({ endpointId, url, types, status, secrets, createdAt }) => {
        return { endpointId, status, url, types: namesOf(types), secrets: secrets.length, createdAt }
      })
    },
  },
  {
    name: 'events list',
    summary: `Lists the events about a customer, newest first, at most ${listLimit}.`,
    options: { customer: customerOption },
    examples: [{ line: 'events list --customer acme', description: 'whether or not an endpoint received them' }],
    changesData: false,
    run: listRequestedEvents,
  },
  {
    name: 'events dead',
    summary: `Lists the dead events, which could not be delivered for days, at most ${listLimit}. With --json including their data.`,
    options: deadOptions,
    examples: [
      { line: 'events dead', description: 'all of them' },
      { line: `events dead --endpoint ${sampleId} --json`, description: 'those for one endpoint, with their data' },
    ],
    changesData: false,
    run: listDead,
  },
  {
    name: 'events resend',
    summary: 'Sends dead events again, for each customer the oldest first.',
    options: deadOptions,
    examples: [
      { line: 'events resend', description: 'all dead events' },
      {
        line: `events resend --endpoint ${sampleId} --customer acme`,
        description: "this endpoint's dead events about acme",
      },
    ],
    failsWhen: 'an endpoint does not accept an event',
    changesData: true,
    findSubject: async (call) => (call.values.customer === undefined ? null : requireQueueId(call)),
    async run(call) {
      const onProgress = (done: number, total: number) => call.onProgress('events', done, total)
      return resendDeadEvents(await call.deliveries(), await deadFilterOf(call), { onProgress })
    },
    failed: (result) => isPartlyResent(result as Resent),
  },
]
