// Metrics of the listeners: answers, durations, requests under way, early refusals.
import type { Registry } from 'prom-client'
import type { RequestCounts } from '../http/request-counts.ts'
import { addCounter, addGauge, addHistogram } from './families.ts'

export type ListenerCounts = Record<'public' | 'internal' | 'webhook', RequestCounts>

export function addRequestMetrics(registry: Registry, listeners: ListenerCounts): void {
  const all = Object.entries(listeners).map(([listener, counts]) => ({ listener, counts }))

  addCounter(registry, 'credits_http_requests_total', 'Requests answered, by the code of the envelope.', () =>
    all.flatMap(({ listener, counts }) =>
      counts.routes.flatMap(({ method, route, answers }) =>
        // Also codes with a count of 0: Prometheus sees an increase only after a zero.
        Object.entries(answers).map(([code, count]) => [{ listener, method, route, code }, count]),
      ),
    ),
  )
  addHistogram(
    registry,
    {
      name: 'credits_http_request_duration_seconds',
      help: 'Duration of requests, from the head to the answer.',
      unit: 1_000,
    },
    () =>
      all.flatMap(({ listener, counts }) =>
        counts.routes.map(({ method, route, durationsMs }) => [{ listener, method, route }, durationsMs]),
      ),
  )
  addGauge(registry, 'credits_admission_requests_under_way', 'Requests under way, by kind of work.', () =>
    all.flatMap(({ listener, counts }) =>
      [...counts.work].map(([work, queue]) => [{ listener, work }, queue.running()]),
    ),
  )
  addGauge(registry, 'credits_admission_requests_waiting', 'Requests that wait for a place, by kind of work.', () =>
    all.flatMap(({ listener, counts }) =>
      [...counts.work].map(([work, queue]) => [{ listener, work }, queue.waiting()]),
    ),
  )
  addCounter(registry, 'credits_admission_refused_total', 'Requests refused before their work began.', () =>
    all.flatMap(({ listener, counts }) =>
      Object.entries(counts.earlyRefusals).map(([reason, count]) => [
        { listener, reason: reason.replace(' ', '_') },
        count,
      ]),
    ),
  )
}
