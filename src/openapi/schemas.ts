// Converts the schemas of the routes to those of the document. A schema with a title becomes a component with that name. An
// answer has no additional properties: the serialiser drops them. A request may have them: they are ignored.
import { isDeepStrictEqual } from 'node:util'
import { assert } from '../core/assert.ts'

export type JsonSchema = { [keyword: string]: unknown }

export type Direction = 'request' | 'response'

export type Components = {
  /** The schema for an operation. */
  schemaOf(schema: object, direction: Direction): JsonSchema
  /** Adds a component that no route has, and returns the reference to it. */
  add(name: string, schema: JsonSchema): JsonSchema
  all(): Record<string, JsonSchema>
}

/** Descriptions of fields are written as parts of a sentence, for the messages of VAL003. */
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
    if (direction === 'response' && converted.properties && converted.type === 'object') {
      Object.assign(converted, { additionalProperties: false })
    }
    return title === undefined ? converted : add(title, converted)
  }

  function convertEach(value: object, direction: Direction): JsonSchema {
    return Object.fromEntries(Object.entries(value).map(([keyword, each]) => [keyword, convert(each, direction)]))
  }

  return {
    add,
    // Through JSON: the schemas of the routes carry symbols of their library.
    schemaOf: (schema, direction) => convert(JSON.parse(JSON.stringify(schema)), direction) as JsonSchema,
    all: () => Object.fromEntries([...components].toSorted(([left], [right]) => (left < right ? -1 : 1))),
  }
}
