// Parses a JSON body strictly: bytes that are not UTF-8 are refused, not repaired; the document is an object of limited depth
// without duplicate names; keys that could poison a prototype are refused. A field that is null counts as missing: it is
// removed here for every endpoint, so VAL002 and defaults follow from the schemas alone.
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parse } from 'secure-json-parse'
import { refuse } from '../../core/errors.ts'
import { isPlain } from './json-shape.ts'

const strict = { protoAction: 'error', constructorAction: 'error' } as const

export function parseJsonObject(body: Buffer): Record<string, unknown> {
  const document = parseJson(body)
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw refuse('VAL001', { message: 'The request body must be a JSON object.' })
  }
  const fields = document as Record<string, unknown>
  for (const name in fields) if (fields[name] === null) delete fields[name]
  return fields
}

function parseJson(body: Buffer): unknown {
  try {
    if (isUtf8(body)) {
      const text = body.toString('utf8')
      const document = parse(text, null, strict)
      if (isPlain(text, document)) return document
    }
  } catch {
    // refused like bytes that are not UTF-8
  }
  throw refuse('VAL001', { message: 'The request body is not valid JSON.' })
}

const charsetPattern = /;\s*charset\s*=\s*"?([^";\s]*)/i

function isInAnotherCharset(contentType = ''): boolean {
  const [, charset = 'utf-8'] = charsetPattern.exec(contentType) ?? []
  // The second is an alias in the encoding standard, and many clients send it.
  return !['utf-8', 'utf8'].includes(charset.toLowerCase())
}

/**
 * The only content type: by default the framework also accepts text/plain, as a string that skips the schemas. Bodies of other
 * types are read before they are refused, so that VAL004 for a body that is too large comes first. A missing body reaches no
 * parser; the schema refuses it.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async () => {
    throw refuse('VAL001', { message: 'The Content-Type must be application/json.' })
  })
  app.addContentTypeParser(
    /^application\/json(?:$|[\s;])/i,
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer, done) => {
      try {
        if (request.headers['content-encoding'])
          throw refuse('VAL001', { message: 'Content-Encoding is not supported.' })
        if (isInAnotherCharset(request.headers['content-type']))
          throw refuse('VAL001', { message: 'The charset of a JSON body is UTF-8.' })
        done(null, parseJsonObject(body))
      } catch (error) {
        done(error as Error)
      }
    },
  )
}
