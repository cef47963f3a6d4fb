// Commands about events: the endpoints that are told, their secrets, what was told, and what could not be delivered.
import { type DeadOf, listDeadEvents } from '../events/dead-sql.ts'
import { listEndpoints, updateEndpointStatus } from '../events/endpoint-sql.ts'
import { addEndpoint, enableEndpoint, removeEndpoint, rotateEndpoint } from '../events/endpoints.ts'
import { listLatestEvents } from '../events/event-sql.ts'
import { eventTypes } from '../events/outbox.ts'
import { type Resent, resendDeadEvents } from '../events/resend.ts'
import { type Call, type Command, needsNothing, needsOne, type Values } from './command.ts'
import { customerOf, needsCustomer } from './customer.ts'

const listLimit = 1_000
const needsEndpoint = needsOne('ENDPOINTID', ' (see: endpoints list)')

function readTypes(types: string | undefined): string[] {
  return types ? types.split(',').map((type) => type.trim()) : []
}

const namesOf = (types: string[]) => types.join(',') || 'all'

function checkAdd({ url, types }: Values): string | undefined {
  const { protocol = '', username = '', password = '', hash = '' } = URL.parse(url ?? '') ?? {}
  if (protocol !== 'https:' && protocol !== 'http:') return '--url URL is needed, beginning with https:// or http://'
  if (username || password || hash) return '--url takes no user, password or fragment'
  if (types !== undefined && types.trim() === '') return '--types has none: leave it out for all'
  const unknown = readTypes(types).find((type) => !(eventTypes as readonly string[]).includes(type))
  return unknown === undefined ? undefined : `--types: "${unknown}" is none of ${eventTypes.join(', ')}`
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

export const eventCommands: Command[] = [
  {
    name: 'endpoints add',
    takes: '--url URL [--types a,b]',
    does: `Tells an endpoint what happens (${eventTypes.join(', ')}; all, if none is named). Its secret is shown this once.`,
    changes: true,
    check: ({ positionals, values }) => needsNothing({ positionals }) ?? checkAdd(values),
    async run({ database, peppers, deliveries, values }) {
      const wanted = { url: values.url ?? '', types: readTypes(values.types) }
      const fault = deliveries().outbound.faultOf(wanted.url)
      if (fault) throw new Error(`Events cannot go there: ${fault}. For development: EVENT_PRIVATE_ADDRESSES=allow.`)
      const { endpointId, url, types, secret } = await addEndpoint(database, peppers()[0], wanted)
      return { endpointId, url, types: namesOf(types), secret }
    },
  },
  {
    name: 'endpoints rotate',
    takes: 'ENDPOINTID',
    does: 'Makes a new secret, shown this once. The old one signs too for a day.',
    changes: true,
    check: needsEndpoint,
    async run({ database, peppers, positionals: [endpointId = ''] }) {
      const secret = await rotateEndpoint(database, peppers()[0], endpointId)
      if (!secret) throw noEndpoint(endpointId)
      return { endpointId, secret }
    },
  },
  {
    name: 'endpoints disable',
    takes: 'ENDPOINTID',
    does: 'Stops deliveries to an endpoint; what happens meanwhile waits for it.',
    changes: true,
    check: needsEndpoint,
    run: changes('DISABLED', ({ database }, endpointId) => updateEndpointStatus(database, endpointId, 'DISABLED')),
  },
  {
    name: 'endpoints enable',
    takes: 'ENDPOINTID',
    does: 'Delivers to an endpoint again, what has waited first.',
    changes: true,
    check: needsEndpoint,
    run: changes('ACTIVE', ({ database }, endpointId) => enableEndpoint(database, endpointId)),
  },
  {
    name: 'endpoints remove',
    takes: 'ENDPOINTID',
    does: 'Removes an endpoint for good, with its secrets, what waits for it and what is dead.',
    changes: true,
    check: needsEndpoint,
    run: changes('REMOVED', ({ database }, endpointId) => removeEndpoint(database, endpointId)),
  },
  {
    name: 'endpoints list',
    takes: '',
    does: 'Lists the endpoints.',
    changes: false,
    check: needsNothing,
    async run({ database }) {
      const endpoints = await listEndpoints(database, listLimit)
      return endpoints.map(({ endpointId, url, types, status, secrets, createdAt }) => {
        return { endpointId, status, url, types: namesOf(types), secrets: secrets.length, createdAt }
      })
    },
  },
  {
    name: 'events list',
    takes: '--customer NAME|UUID',
    does: `Lists what was told about a customer, newest first, up to ${listLimit}.`,
    changes: false,
    check: needsCustomer,
    run: listEventsOf,
  },
  {
    name: 'events dead',
    takes: '[--endpoint ENDPOINTID] [--customer NAME|UUID]',
    does: `Lists the events that could not be delivered within days, up to ${listLimit}; what they say with --json.`,
    changes: false,
    check: needsNothing,
    run: listDead,
  },
  {
    name: 'events resend',
    takes: '[--endpoint ENDPOINTID] [--customer NAME|UUID]',
    does: 'Sends dead events again, all or those named, the oldest of a customer first. Exit code 1 when one is not taken.',
    changes: true,
    check: needsNothing,
    run: async (call) => resendDeadEvents(call.deliveries(), await deadOf(call)),
    failed: (result) => (result as Resent).failed.length > 0,
  },
]
