// A minimal collector: receives OTLP over HTTP as JSON and stores the spans.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type Cleaner, defer } from '../../../harness/processes.ts'
import { until } from '../../../harness/until.ts'

type Attribute = { key: string; value: Record<string, unknown> }
type SentSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: Attribute[]
  links?: { traceId: string; spanId: string }[]
}
type Sent = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: SentSpan[] }[] }[]
}

export type ReceivedSpan = Omit<SentSpan, 'attributes' | 'links'> & {
  service: unknown
  attributes: Record<string, unknown>
  links: string[]
}

export async function startOtlpReceiver(t: Cleaner) {
  const spans: ReceivedSpan[] = []
  const server = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as Sent
    for (const { resource, scopeSpans } of resourceSpans) {
      const { 'service.name': service } = read(resource.attributes)
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        const links = (span.links ?? []).map(({ traceId }) => traceId)
        spans.push({ ...span, service, links, attributes: read(span.attributes) })
      }
    }
    response.setHeader('content-type', 'application/json').end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(t, () => server.close())
  const { port } = server.address() as AddressInfo
  const namesOf = (traceId: string) => spans.filter((span) => span.traceId === traceId).map(({ name }) => name)
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    /** Waits for the span with this name that is linked to the trace. */
    async spanLinkedTo(traceId: string, name: string): Promise<ReceivedSpan> {
      const find = () => spans.find((span) => span.name === name && span.links.includes(traceId))
      await until(`${name} is linked to ${traceId}`, () => find() !== undefined, 15_000)
      return find() as ReceivedSpan
    },
    /** Waits for spans with these names, and returns all spans of the trace. */
    async traceWith(traceId: string, names: string[]): Promise<ReceivedSpan[]> {
      const missing = () => names.filter((name) => !namesOf(traceId).includes(name))
      await until(`the trace has ${names.join(', ')}`, () => missing().length === 0, 15_000)
      return spans.filter((span) => span.traceId === traceId)
    },
  }
}

function read(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
