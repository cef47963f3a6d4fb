// Spans as the parts of the service make them, without knowing who records them. A span that nobody records is undefined,
// and so is every span where tracing is off: to ask for one then costs a call that does nothing. The parent of a span is
// told as W3C writes it (traceparent), because it goes through requests, rows and processes.

import { Refusal } from './errors.ts'

export type Attributes = Record<string, string | number | boolean>

export type Span = {
  /** For the spans within it. */
  traceParent: string
  end(attributes?: Attributes): void
}

export type SpanOptions = {
  /** Null: it is the first of its trace. */
  parent: string | null
  /** `server`: somebody asks us; `client`: we ask somebody. */
  kind?: 'internal' | 'server' | 'client'
  attributes?: Attributes
  /** Spans of others that it belongs to as well. */
  links?: string[]
}

export type Tracing = {
  start(name: string, options: SpanOptions): Span | undefined
  /** Sends what is left, within a limit. */
  close(): Promise<void>
}

export const noTracing: Tracing = { start: () => undefined, close: async () => undefined }

/**
 * The work within a span; `told` says what came of it. What has no parent was not recorded from its beginning, and is not
 * recorded from its middle on.
 */
export function inSpan<Value>(
  tracing: Tracing,
  name: string,
  options: SpanOptions,
  work: (traceParent: string | null) => Promise<Value>,
  told: (value: Value) => Attributes,
): Promise<Value> {
  const span = options.parent === null ? undefined : tracing.start(name, options)
  return span ? recorded(span, work, told) : work(options.parent)
}

async function recorded<Value>(
  span: Span,
  work: (traceParent: string) => Promise<Value>,
  told: (value: Value) => Attributes,
): Promise<Value> {
  try {
    const value = await work(span.traceParent)
    span.end(told(value))
    return value
  } catch (error) {
    span.end(error instanceof Refusal ? { code: error.code } : { error: (error as Error).name })
    throw error
  }
}

type Traced = { traceParent?: string | null }

/** A statement that many share is a span of the first of them, with links to the others. */
export function inBatchSpan<Input extends Traced, Output>(
  tracing: Tracing,
  name: string,
  inputs: Input[],
  run: () => Promise<Output[]>,
): Promise<Output[]> {
  if (tracing === noTracing) return run()
  const [parent = null, ...links] = inputs.flatMap(({ traceParent }) => traceParent ?? [])
  if (parent === null) return run()
  return inSpan(tracing, name, { parent, links, attributes: { 'batch.size': inputs.length } }, run, () => ({}))
}
