// Without a configured collector OpenTelemetry is not loaded, and nothing is recorded.
import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { test } from 'node:test'

test('without an endpoint the tracing library is not loaded', async () => {
  const loaded: string[] = []
  registerHooks({
    resolve(specifier, context, nextResolve) {
      loaded.push(specifier)
      return nextResolve(specifier, context)
    },
  })
  const { readConfig } = await import('../../src/config.ts')
  const { noTracing } = await import('../../src/core/tracing.ts')
  const { openTracing } = await import('../../src/telemetry/open-tracing.ts')
  await import('../../src/service.ts')
  const log = { warn: () => undefined, error: () => undefined }
  assert.equal(await openTracing(readConfig({}), log), noTracing)
  const isTracing = (specifier: string) => /opentelemetry\/(sdk|exporter|resources)|\/tracing\/tracing/.test(specifier)
  assert.deepEqual(loaded.filter(isTracing), [])

  const tracing = await openTracing(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1/' }), log)
  await tracing.close()
  assert.notDeepEqual(loaded.filter(isTracing), [])
})

test('the standard tracing settings are read, and refused when they are invalid', async () => {
  const { readConfig } = await import('../../src/config.ts')
  const read = (settings: Record<string, string>) => readConfig(settings).tracing
  assert.equal(read({}), undefined)
  assert.deepEqual(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }), {
    url: 'http://collector:4318/v1/traces',
    serviceName: 'prepaid-credits',
    ratio: 1,
  })
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/take', OTEL_TRACES_SAMPLER_ARG: '0.25' }
  assert.deepEqual(read({ ...own, OTEL_SERVICE_NAME: 'credits' }), {
    url: 'https://traces.example/take',
    serviceName: 'credits',
    ratio: 0.25,
  })
  assert.throws(() => read({ ...own, OTEL_TRACES_SAMPLER_ARG: 'half' }), /OTEL_TRACES_SAMPLER_ARG/)
  const ratioOf = (sampler: string) => read({ ...own, OTEL_TRACES_SAMPLER: sampler })?.ratio
  assert.deepEqual([ratioOf('traceidratio'), ratioOf('parentbased_traceidratio')], [0.25, 0.25])
  assert.throws(() => read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }), /OTEL_EXPORTER_OTLP_ENDPOINT/)
})

test('tracing settings that are meant for other programs do not stop the service', async () => {
  const { readConfig } = await import('../../src/config.ts')
  const read = (settings: Record<string, string>) => readConfig(settings).tracing
  assert.equal(read({ OTEL_TRACES_SAMPLER_ARG: 'half' }), undefined)
  const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector', OTEL_TRACES_SAMPLER_ARG: 'half' }
  assert.equal(read({ ...wrong, OTEL_SDK_DISABLED: 'TRUE' }), undefined)
  assert.equal(read({ ...wrong, OTEL_TRACES_EXPORTER: 'none' }), undefined)
  assert.equal(read({ ...wrong, OTEL_TRACES_SAMPLER: 'always_off' }), undefined)
  const argument = 'endpoint=http://sampler:14250,pollingIntervalMs=5000'
  const right = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_SAMPLER_ARG: argument }
  const ratios = { always_on: 1, parentbased_always_on: 1, parentbased_always_off: 0, jaeger_remote: 1 }
  for (const [sampler, ratio] of Object.entries(ratios)) {
    assert.equal(read({ ...right, OTEL_TRACES_SAMPLER: sampler })?.ratio, ratio, sampler)
  }
  assert.notEqual(read({ ...right, OTEL_SDK_DISABLED: 'false', OTEL_TRACES_SAMPLER: 'always_on' }), undefined)
})
