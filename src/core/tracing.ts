// Spans for the rest of the service, without a dependency on the library that records them (telemetry/tracing.ts). The
// current span follows asynchronous calls by itself; a `traceparent` as W3C writes it is needed only where a trace leaves
// the process or is stored: in headers, in the row of an operation, and for the links of a shared statement. When tracing
// is off, `noTracing` never returns a span, and a call costs two comparisons.
import { Refusal } from './errors.ts'

export type Attributes = Record<string, string | number | boolean>

export type TraceSpan = {
  /** Runs the work with this span as the current one. */
  run<Value>(work: () => Value): Value
  end(attributes?: Attributes): void
}

export type SpanOptions = {
  /** Null: the span is the first of its trace. */
  parent: string | null
  /** `server`: a request we answer; `client`: a request we send. */
  kind?: 'internal' | 'server' | 'client'
  attributes?: Attributes
  /** Spans of other traces that it belongs to as well. */
  links?: string[]
}

export type Tracing = {
  /** Undefined when the span is not recorded. */
  start(name: string, options: SpanOptions): TraceSpan | undefined
  /** The traceparent of the current span; null when there is none. */
  current(): string | null
  /** Sends the spans that are left, within a time limit. */
  close(): Promise<void>
}

export const noTracing: Tracing = { start: () => undefined, current: () => null, close: async () => undefined }

/**
 * Runs the work in a span below the current one, or below `parent`. Without either it runs without a span: a trace that was
 * not recorded from its beginning is not recorded from its middle on.
 */
export function inSpan<Value>(
  tracing: Tracing,
  name: string,
  options: Omit<SpanOptions, 'parent'> & { parent?: string | null },
  work: () => Promise<Value>,
  resultOf: (value: Value) => Attributes,
): Promise<Value> {
  const parent = options.parent ?? tracing.current()
  const span = parent === null ? undefined : tracing.start(name, { ...options, parent })
  return span ? record(span, work, resultOf) : work()
}

async function record<Value>(
  span: TraceSpan,
  work: () => Promise<Value>,
  resultOf: (value: Value) => Attributes,
): Promise<Value> {
  try {
    const value = await span.run(work)
    span.end(resultOf(value))
    return value
  } catch (error) {
    span.end(errorAttributes(error))
    throw error
  }
}

export function errorAttributes(error: unknown): Attributes {
  return error instanceof Refusal ? { code: error.code } : { error: (error as Error | null)?.name ?? 'Error' }
}

/** A statement that several requests share: a span of the first recorded one, with links to the others. */
export function startSharedSpan(
  tracing: Tracing,
  name: string,
  requests: { traceParent: string | null }[],
): TraceSpan | undefined {
  const [parent, ...links] = requests.flatMap(({ traceParent }) => traceParent ?? [])
  if (parent === undefined) return undefined
  return tracing.start(name, { parent, links, attributes: { 'batch.size': requests.length } })
}
