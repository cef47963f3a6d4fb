// Records spans with OpenTelemetry and sends them to a collector over OTLP. Loaded only where an endpoint is configured.
// The queue of spans is bounded, and spans past the bound are dropped. A collector that is down or slow is logged once; no
// request waits for it. The current span is in OpenTelemetry's context, which an AsyncLocalStorage carries along. The
// storage belongs to this instance and is not registered with the library: two services in one process stay apart, and
// no instrumentation of the library's is in use that would look there.
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { deadlineIn, within } from '../core/clock.ts'
import type { Attributes, SpanOptions, TraceSpan, Tracing } from '../core/tracing.ts'

export type TracingSettings = {
  /** With the path of the traces. */
  url: string
  serviceName: string
  /** The share of traces recorded that begin here; a trace begun by a sibling service is recorded as that one decided. */
  ratio: number
  version: string
}

type Log = { warn(fields: object, message: string): void }

const exportTimeoutMs = 5_000
const sendEveryMs = 1_000
const keptSpans = 4_096
/** For the spans that are left when the service stops. */
const flushMs = 2_000

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT }

export function createTracing({ url, serviceName, ratio, version }: TracingSettings, log: Log): Tracing {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: exportTimeoutMs })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: logged(exporter, log),
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: exportTimeoutMs,
        maxQueueSize: keptSpans,
      }),
    ],
  })
  const tracer = provider.getTracer('prepaid-credits', version)
  const contexts = new AsyncLocalStorage<Context>()

  function start(name: string, { parent, kind = 'internal', attributes = {}, links = [] }: SpanOptions) {
    const parentContext = readTraceParent(parent)
    const context = parentContext ? trace.setSpanContext(ROOT_CONTEXT, parentContext) : ROOT_CONTEXT
    const linked = links.flatMap((link) => readTraceParent(link) ?? []).map((each) => ({ context: each }))
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes, links: linked }, context)
    if (!span.isRecording()) return undefined
    return {
      run: (work) => contexts.run(trace.setSpan(context, span), work),
      end(more: Attributes = {}) {
        span.setAttributes(more)
        if (isFailure(more)) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    } satisfies TraceSpan
  }
  return {
    start,
    current() {
      const context = contexts.getStore()
      const span = context && trace.getSpan(context)
      return span ? writeTraceParent(span.spanContext()) : null
    },
    async close() {
      await within(
        deadlineIn(flushMs),
        provider.shutdown().catch(() => undefined),
        undefined,
      )
    },
  }
}

/** A bug, or a request that could not be served. Any other refusal is an answer. */
function isFailure({ error, code }: Attributes): boolean {
  return error !== undefined || code === 'INT001' || code === 'SVC001'
}

/** Logs once that the collector fails, and once that it works again. */
function logged(exporter: SpanExporter, log: Log): SpanExporter {
  let isFailing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined
        if (failed && !isFailing) log.warn({ error: result.error?.message }, 'the collector takes no traces')
        if (!failed && isFailing) log.warn({}, 'the collector takes traces again')
        isFailing = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

const traceParentPattern = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})/

/** Undefined for a malformed one: a caller may send anything. */
function readTraceParent(text: string | null): SpanContext | undefined {
  const [, traceId, spanId, flags] = (text && text.length <= 512 && traceParentPattern.exec(text)) || []
  if (!traceId || !spanId || !flags) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
}

function writeTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
