// Values for the schema of a body or a query: valid ones, nearly valid ones, and hostile ones. Drawn by fast-check, which
// prefers the edges of what is allowed.
import fc from 'fast-check'
import { naughtyNumbers, naughtyTexts } from './naughty.ts'
import type { Schema } from './routes.ts'
import { standIns } from './stand-ins.ts'

/** Fields that need an existing value to have an effect. */
const knownTexts: Record<string, string[]> = {
  customerId: [standIns.customerId, standIns.otherCustomerId, standIns.customerId.toUpperCase()],
  orderId: [standIns.orderId],
  paymentKey: [`pay_${standIns.orderId}`, `decline_${standIns.orderId}`, `missing_${standIns.orderId}`],
  cursor: ['1', '2', '999999999999999'],
  limit: ['1', '100', '1000'],
  from: ['2026-01-31T09:00:00Z', '0001-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '9999-12-31T23:59:59.999+23:59'],
  to: ['2026-12-31T23:59:59.999+09:00', '9999-12-31T23:59:59Z', '0000-01-01T00:00:00-23:59'],
  kind: ['GRANT', 'SPEND,HOLD', 'CAPTURE,CAPTURE,CAPTURE'],
}

/** Marks the text of a number, which `jsonText` writes without quotation marks. */
const bareMark = '@bare '

export function jsonText(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').replaceAll(/"@bare ([^"\\]*)"/g, '$1')
}

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 210,
})
/** Lone surrogates included. */
const anyText = fc.oneof(
  fc.constantFrom(...naughtyTexts),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 }).map((units) => String.fromCharCode(...units)),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  visible,
)
const bareNumber = fc.constantFrom(...naughtyNumbers).map((number) => `${bareMark}${number}`)
const anyNumber = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  bareNumber,
)
const nested = fc.oneof(
  fc.integer({ min: 1, max: 40 }).map((depth) => bracketed('[', ']', depth)),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Nested arrays of that depth. */
function bracketed(open: '[', close: ']', depth: number): unknown {
  return JSON.parse(`${open.repeat(depth)}${close.repeat(depth)}`)
}

export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: anyText },
  { weight: 3, arbitrary: anyNumber },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { value: 1 }, '') },
  { weight: 1, arbitrary: nested },
)

/** Valid, or nearly: patterns are ignored, except that characters are visible. */
function rightValue(name: string, schema: Schema): fc.Arbitrary<unknown> {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, maxLength = 200 } = schema
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (type === 'object') return nearObject(schema)
  if (type === 'integer' || type === 'number') {
    const small = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 100) })
    return fc.oneof(small, fc.constantFrom(1_000, 20_000, 100_000), fc.constantFrom(minimum, maximum))
  }
  const known = knownTexts[name]
  return known ? fc.constantFrom(...known) : fc.oneof(visible, fc.string({ unit: 'grapheme', minLength: 1, maxLength }))
}

/** Just past the limits, or of another type. */
function wrongValue({ minimum, maximum, maxLength = 200 }: Schema): fc.Arbitrary<unknown> {
  const edges = [minimum, maximum].flatMap((edge) =>
    edge === undefined ? [] : [edge - 1, edge + 1, -edge, edge + 0.5, `${edge}`],
  )
  const lengths = [maxLength, maxLength + 1, 4_000].map((length) =>
    '😀'.repeat(length / 2).concat('x'.repeat(length % 2)),
  )
  return fc.oneof(
    anyValue,
    fc.constantFrom<unknown>(...edges, ...lengths, 'x'.repeat(maxLength), 'x'.repeat(maxLength + 1)),
  )
}

const left = Symbol('left out')

function nearField(name: string, schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 16, arbitrary: rightValue(name, schema) },
    { weight: 3, arbitrary: wrongValue(schema) },
    { weight: 1, arbitrary: fc.constant(left) },
  )
}

/** Its fields, some invalid, some missing, and sometimes unknown ones. */
export function nearObject({ properties = {} }: Schema): fc.Arbitrary<object> {
  const fields = fc.tuple(...Object.entries(properties).map(([name, schema]) => nearField(name, schema)))
  const names = Object.keys(properties)
  const extra = fc.dictionary(anyText, anyValue, { maxKeys: 3, noNullPrototype: true })
  const none = fc.constant({})
  return fc
    .tuple(fields, fc.oneof({ weight: 6, arbitrary: none }, { weight: 1, arbitrary: extra }), fc.nat({ max: 7 }))
    .map(([values, others, order]) => {
      const own = names.map((name, place) => [name, values[place]] as const).filter(([, value]) => value !== left)
      const entries = [...Object.entries(others), ...own]
      // Not by assignment: a name of the prototype has to become a field as well.
      return Object.fromEntries(order === 0 ? entries.toReversed() : entries)
    })
}

/** Mostly an object of that schema, sometimes any other document. */
export function nearBody(schema: Schema): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 24, arbitrary: nearObject(schema).map(jsonText) },
    { weight: 1, arbitrary: anyValue.map(jsonText) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(nearObject(schema).map(jsonText), fc.constantFrom(...fumbles))
        .map(([text, fumble]) => fumble(text)),
    },
  )
}

/** Mistakes of people and programs in JSON. */
const fumbles: readonly ((text: string) => string)[] = [
  (text) => `\ufeff${text}`,
  (text) => ` \t\r\n${text}\r\n\r\n`,
  (text) => `${text}${text}`,
  (text) => text.slice(0, -1),
  (text) => `${text.slice(0, -1)},}`,
  (text) => text.replace(/^\{("(?:[^"\\]|\\.)*":[^,{}[\]]*)/, '{$1,$1'),
  (text) => text.replace('{', '{/* a */'),
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace('"', '"\u0000'),
  (text) => text.replace('{', '{"__proto__":{"polluted":true},'),
  (text) => text.replace('{', '{"\\u005f_proto__":{"polluted":true},'),
  (text) => text.replace('{', '{"constructor":{"prototype":{"polluted":true}},'),
  (text) => `[${text}]`,
  (text) => `${'['.repeat(3_000)}${text}${']'.repeat(3_000)}`,
  (text) => text.replace('{', `{"deep":${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)},`),
]

export function nearQuery(schema: Schema): fc.Arbitrary<string> {
  return nearObject(schema).map((fields) => {
    const pairs = Object.entries(fields).map(([name, value]) => `${encode(name)}=${encode(plainText(value))}`)
    return pairs.length > 0 ? `?${pairs.join('&')}` : ''
  })
}

/** Not by `String`: an object may have a `toString` that is no function. */
function plainText(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value)
}

/** For a query or a path; a lone surrogate has no encoding and gets one that no parser accepts. */
export function encode(value: string): string {
  try {
    return encodeURIComponent(value)
  } catch {
    return '%ED%A0%80'
  }
}

/** One value, the same for the same seed. */
export function draw<Value>(arbitrary: fc.Arbitrary<Value>, seed: number): Value {
  const [value] = fc.sample(arbitrary, { seed, numRuns: 1 })
  return value as Value
}
