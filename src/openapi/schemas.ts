// From the schemas of the routes to those of the document. One with a title becomes a component of that name and a
// reference to it. What the service sends is closed: the serialiser drops what a schema does not name. What it takes is
// open: fields that are not specified are ignored.
import { isDeepStrictEqual } from 'node:util'
import { assert } from '../core/assert.ts'

export type JsonSchema = { [keyword: string]: unknown }

export type Direction = 'taken' | 'sent'

export type Components = {
  /** The schema as it stands in an operation. */
  schemaOf(schema: object, direction: Direction): JsonSchema
  /** A component that no route has. */
  add(name: string, schema: JsonSchema): JsonSchema
  all(): Record<string, JsonSchema>
}

/** Rules of fields are parts of sentences where they are broken. */
function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`
}

export function createComponents(): Components {
  const components = new Map<string, JsonSchema>()

  function add(name: string, schema: JsonSchema): JsonSchema {
    const known = components.get(name)
    assert(!known || isDeepStrictEqual(known, schema), `two schemas of the API document are called ${name}`)
    components.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  function convert(value: unknown, direction: Direction): unknown {
    if (Array.isArray(value)) return value.map((each) => convert(each, direction))
    if (typeof value !== 'object' || value === null) return value
    const { title, ...keywords } = value as JsonSchema
    // Under `properties`, a title is the name of a field like any other.
    if (title !== undefined && typeof title !== 'string') return convertEach(value, direction)
    const converted = convertEach(keywords, direction)
    if (typeof converted.description === 'string') converted.description = sentence(converted.description)
    if (converted.enum && !converted.type) Object.assign(converted, { type: 'string' })
    if (direction === 'sent' && converted.properties && converted.type === 'object') {
      Object.assign(converted, { additionalProperties: false })
    }
    return title === undefined ? converted : add(title, converted)
  }

  function convertEach(value: object, direction: Direction): JsonSchema {
    return Object.fromEntries(Object.entries(value).map(([keyword, each]) => [keyword, convert(each, direction)]))
  }

  return {
    add,
    // Through JSON: the schemas of the routes carry marks of their library beside what they say.
    schemaOf: (schema, direction) => convert(JSON.parse(JSON.stringify(schema)), direction) as JsonSchema,
    all: () => Object.fromEntries([...components].toSorted(([left], [right]) => (left < right ? -1 : 1))),
  }
}
