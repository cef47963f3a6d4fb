// The types of the API document for the client, `src/schema.ts`: of the endpoints that it calls, of what they refer to, and of
// the events. Written by the set-up and by `npm pack`, never committed. Throws at a keyword that it cannot say in TypeScript.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const fileAt = (path) => fileURLToPath(new URL(path, import.meta.url))
/** They limit values, which types cannot. */
const limits = ['format', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems']
const known = new Set([
  ...['$ref', 'type', 'const', 'enum', 'anyOf', 'oneOf', 'items', 'properties', 'required', 'additionalProperties'],
  ...['description', 'discriminator', 'example', 'examples', 'default', ...limits],
])

/** A schema as a type; `refer` is called with the names of others that it refers to. */
function typeOf(schema, refer) {
  const unknown = Object.keys(schema).filter((keyword) => !known.has(keyword))
  if (unknown.length > 0) throw new Error(`client/schema.mjs: teach it ${unknown.join(', ')}`)
  const { $ref, type, const: constant, enum: values, anyOf, oneOf = anyOf, items } = schema
  if ($ref) return refer($ref.split('/').at(-1))
  if (oneOf) return oneOf.map((each) => typeOf(each, refer)).join(' | ')
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(type)) return type.map((each) => typeOf({ ...schema, type: each }, refer)).join(' | ')
  if (type === 'array') return `(${typeOf(items, refer)})[]`
  if (type === 'object') return objectOf(schema, refer)
  return { integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' }[type] ?? 'unknown'
}

const commentOf = ({ description }) => (description ? `/** ${description.replaceAll('*/', '*\\/')} */\n` : '')

function objectOf({ properties = {}, required = [], additionalProperties }, refer) {
  const members = Object.entries(properties).map(([name, schema]) => {
    return `${commentOf(schema)}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, refer)}`
  })
  const others =
    typeof additionalProperties === 'object' ? [`[name: string]: ${typeOf(additionalProperties, refer)}`] : []
  return `{\n${[...members, ...others].join('\n')}\n}`
}

export function schemaOf({ paths, components: { schemas } }) {
  const names = new Set(['ErrorEnvelope', 'Event'])
  const refer = (name) => {
    names.add(name)
    return `Schemas[${JSON.stringify(name)}]`
  }
  const operations = Object.entries(paths)
    .filter(([path]) => /^\/(public|internal)\//.test(path))
    .flatMap(([, methods]) => Object.values(methods))
    .filter(({ operationId }) => operationId)
    .map(({ operationId, requestBody, responses }) => {
      const contents = [requestBody, ...Object.values(responses)].flatMap(
        (part) => part?.content?.['application/json'] ?? [],
      )
      const types = contents.map(({ schema }) => typeOf(schema, refer))
      return `${operationId}: ${types.slice(requestBody ? 1 : 0).join('\n| ')}`
    })
  // Those that are referred to are added while this goes on.
  const types = []
  for (const name of names) {
    types.push(`${commentOf(schemas[name])}${JSON.stringify(name)}: ${typeOf(schemas[name], refer)}`)
  }
  return `/** What an endpoint answers, by its name in the document. */\nexport type Operations = {\n${operations.join('\n')}\n}\n
export type Schemas = {\n${types.join('\n')}\n}\n`
}

/** Leaves a file alone that would stay the same, and where the client is without the service, the one that came with it. */
export function writeSchema() {
  const [file, document] = [fileAt('src/schema.ts'), fileAt('../openapi.json')]
  if (!existsSync(document) && existsSync(file)) return
  const text = schemaOf(JSON.parse(readFileSync(document, 'utf8')))
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
}
