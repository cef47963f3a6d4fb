// What the process itself tells: memory, processor, garbage, the event loop. There is one process, whatever runs in it, and
// its observers cannot be taken down again: they are begun once, by the first who asks.
import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { addCounter } from './families.ts'

let begun: Registry | undefined

export function processMetrics(): Registry {
  begun ??= begin()
  return begun
}

function begin(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const seconds = () => performance.eventLoopUtilization()
  addCounter(
    registry,
    'credits_event_loop_active_seconds_total',
    'Time the event loop was at work. Its rate is the utilisation: at 1 there is nothing left.',
    () => [[{}, seconds().active / 1_000]],
  )
  return registry
}
