// How long requests that write were not answered with success, for each loss of the primary: at most the lease of the
// cluster and ten seconds.
import type { World } from '../../world/world.ts'
import type { Check, Evidence } from './evidence.ts'

/** Besides the lease of the lost primary. */
const takeoverSeconds = 10
const writes = ['purchase', 'confirm', 'cancel', 'spend', 'hold', 'capture', 'release']

export function checkFailovers({ cluster }: Pick<World, 'cluster'>, { calls }: Evidence): Check[] {
  if (!cluster) return []
  const limitMs = (cluster.leaseSeconds + takeoverSeconds) * 1_000
  const answers = calls.filter(({ request, outcome }) => outcome.kind === 'ok' && writes.includes(request.op))
  const answeredMs = answers.map(({ endedAtMs }) => endedAtMs).sort((one, other) => one - other)
  const violations = cluster.outages.flatMap(({ kind, fromMs, toMs }) => {
    const within = answeredMs.filter((ms) => ms >= fromMs && ms <= toMs)
    const gapMs = longestGap([fromMs, ...within, toMs])
    return gapMs <= limitMs ? [] : [`${kind}: no write was answered for ${Math.round(gapMs / 100) / 10} s`]
  })
  const title = `while a primary is lost, writes are answered again within ${limitMs / 1_000} s`
  return [{ id: 'F-1', title, violations }]
}

function longestGap(times: number[]): number {
  return times.reduce((longest, ms, index) => Math.max(longest, ms - (times[index - 1] ?? ms)), 0)
}
