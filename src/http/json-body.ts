// Reads a JSON body the strict way: bytes that are not UTF-8 are refused, not repaired; the document is an object; keys
// that could poison a prototype are refused. A field that is null counts as missing (it is dropped here, once, for every
// endpoint), so VAL002 and defaults follow from the schemas alone.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parse } from 'secure-json-parse'
import { refuse } from '../core/errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function parseJsonObject(body: Buffer): Record<string, unknown> {
  let document: unknown
  try {
    document = parse(utf8.decode(body), null, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    throw refuse('VAL001', { message: 'The request body is not valid JSON.' })
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw refuse('VAL001', { message: 'The request body must be a JSON object.' })
  }
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null))
}

/**
 * The only content type: without this the framework also takes text/plain, as a string that skips the schemas. Other
 * types are read and then refused, so that a body that is too large is told so first; a body that is not there at all
 * never comes to a parser.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async () => {
    throw refuse('VAL001', { message: 'The Content-Type must be application/json.' })
  })
  app.addHook('preValidation', async (request) => {
    if (request.method === 'POST' && request.body === undefined) {
      throw refuse('VAL001', { message: 'The request has no body.' })
    }
  })
  app.addContentTypeParser(
    /^application\/json(?:$|[\s;])/i,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (request.headers['content-encoding']) throw refuse('VAL001', { message: 'Content-Encoding is not supported.' })
      return parseJsonObject(body)
    },
  )
}
