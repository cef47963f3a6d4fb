// Requests made from the schemas of the routes: well-formed HTTP, so that each gets exactly one answer, whatever its
// body, path, key and content type are.
import type { Random } from '../../../../harness/random.ts'
import { naughtyTexts } from './naughty.ts'
import { anyRoute, headersOf, type Message, pathOf } from './requests.ts'
import type { ListenerName, Route, Schema } from './routes.ts'
import { draw, encode, nearBody, nearQuery } from './schema.ts'
import { standIns } from './stand-ins.ts'

const largestSeed = 2 ** 31 - 1
const emptyObject: Schema = { type: 'object', properties: {} }

/** Making an arbitrary costs more than drawing from it. */
function cached<Value>(make: (schema: Schema) => Value): (schema: Schema) => Value {
  const made = new Map<Schema, Value>()
  return (schema) => {
    const known = made.get(schema) ?? make(schema)
    made.set(schema, known)
    return known
  }
}

const bodiesOf = cached(nearBody)
const queriesOf = cached(nearQuery)

const otherMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
const contentTypes = [
  'application/json',
  'Application/JSON; Charset=UTF-8',
  'application/json;',
  'text/plain',
  'application/xml',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'application/jsonx',
  '*/*',
  'x',
] as const

/** Credentials of other callers. */
const strangers: Record<ListenerName, readonly [[string, string][], ...[string, string][][]]> = {
  public: [
    [],
    [['Service-Api-Key', standIns.suspendedApiKey]],
    [['Service-Api-Key', standIns.otherApiKey]],
    [['Service-Api-Key', `cpk_${'N'.repeat(43)}`]],
    [['Service-Api-Key', 'cpk_short']],
    [['Authorization', `Bearer ${standIns.token}`]],
    [
      ['Service-Api-Key', standIns.apiKey],
      ['Service-Api-Key', standIns.apiKey],
    ],
  ],
  internal: [
    [],
    [['Authorization', `Bearer ${standIns.suspendedToken}`]],
    [['Authorization', `Bearer cst_${'N'.repeat(43)}`]],
    [['Authorization', standIns.token]],
    [['Service-Api-Key', standIns.apiKey]],
    [
      ['Authorization', `Bearer ${standIns.token}`],
      ['Authorization', `Bearer ${standIns.token}`],
    ],
  ],
  webhook: [[]],
}

const strangerShare = 0.08
const otherMethodShare = 0.04
const otherTypeShare = 0.06
const otherPathShare = 0.12
const bodyOfGetShare = 0.05

export function generatedRequest(random: Random, listener: ListenerName, mark: string): Message {
  const route = anyRoute(random, listener)
  const seed = () => random.integer(0, largestSeed)
  const hasBody = route.body !== undefined || random.chance(bodyOfGetShare)
  const body = hasBody ? Buffer.from(wellFormed(draw(bodiesOf(route.body ?? emptyObject), seed()))) : null
  const query = route.query ? draw(queriesOf(route.query), seed()) : ''
  return {
    method: random.chance(otherMethodShare) ? random.pick(otherMethods) : route.method,
    path: `${pathFor(random, route)}${query}`,
    headers: headersFor(random, listener, mark, hasBody),
    body,
  }
}

/** JSON escapes a lone surrogate; outside of a string it has no bytes. */
function wellFormed(text: string): string {
  return text.toWellFormed()
}

/** Without characters that end the line. */
function pathFor(random: Random, route: Route): string {
  const path = pathOf(route)
  if (!random.chance(otherPathShare)) return path
  const [first = '', ...others] = naughtyTexts
  const naughty = encode(random.pick([first, ...others]))
  const segments = path.split('/')
  return random.pick([
    `${path}/`,
    `${path}/${naughty}`,
    `/${naughty}`,
    path.toUpperCase(),
    `${path}%2f`,
    `${path}?${naughty}=${naughty}`,
    [...segments.slice(0, -1), naughty].join('/'),
    segments.with(random.integer(1, segments.length - 1), naughty).join('/'),
  ])
}

function headersFor(random: Random, listener: ListenerName, mark: string, hasBody: boolean): [string, string][] {
  const right = headersOf(listener, mark, hasBody)
  const typed = right.map(([name, value]): [string, string] =>
    name === 'Content-Type' && random.chance(otherTypeShare) ? [name, random.pick(contentTypes)] : [name, value],
  )
  if (!random.chance(strangerShare)) return typed
  const callers = new Set(['Service-Api-Key', 'Authorization'])
  return [...typed.filter(([name]) => !callers.has(name)), ...random.pick(strangers[listener])]
}
