// Metrics of the process: memory, processor, garbage collection, the event loop. prom-client's observers cannot be removed, so
// they are created once per process, by the first call.
import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { addCounter } from './families.ts'

let created: Registry | undefined

export function processMetrics(): Registry {
  created ??= create()
  return created
}

function create(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const seconds = () => performance.eventLoopUtilization()
  addCounter(
    registry,
    'credits_event_loop_active_seconds_total',
    'Time the event loop was active. Its rate is the utilisation: 1 is saturated.',
    () => [[{}, seconds().active / 1_000]],
  )
  return registry
}
