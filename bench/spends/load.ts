// Spends, from a process of its own: so many connections, each with one request under way, for so long. Every request has
// a reference of its own. What is answered otherwise than with 200 is counted, and ends the measurement.
import { createHistogram } from 'node:perf_hooks'
import { Pool } from 'undici'

export type LoadInput = { url: string; token: string; customerIds: string[]; connections: number; seconds: number }
export type LoadOutput = { spends: number; seconds: number; p50Ms: number; p99Ms: number; failed: string[] }

const { url, token, customerIds, connections, seconds } = JSON.parse(process.argv[2] ?? '') as LoadInput
const pool = new Pool(url, { connections, pipelining: 1 })
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const run = crypto.randomUUID()
const histogram = createHistogram()
const failed: string[] = []
let spends = 0
let turn = 0

async function spendOn(deadline: number): Promise<void> {
  while (performance.now() < deadline && failed.length === 0) {
    turn += 1
    const customerId = customerIds[turn % customerIds.length]
    const body = JSON.stringify({ customerId, credits: 1, reference: `${run}-${turn}` })
    const startedAt = process.hrtime.bigint()
    const answer = await pool.request({ path: '/internal/v1/credits/spend', method: 'POST', headers, body })
    const text = await answer.body.text()
    histogram.record(process.hrtime.bigint() - startedAt)
    if (answer.statusCode === 200) spends += 1
    else failed.push(`${answer.statusCode} ${text}`)
  }
}

const startedAt = performance.now()
const deadline = startedAt + seconds * 1_000
await Promise.all(Array.from({ length: connections }, () => spendOn(deadline)))
const milliseconds = (percentile: number) => histogram.percentile(percentile) / 1e6
process.send?.({
  ...{ spends, seconds: (performance.now() - startedAt) / 1_000, failed },
  ...{ p50Ms: milliseconds(50), p99Ms: milliseconds(99) },
} satisfies LoadOutput)
await pool.close()
process.disconnect?.()
