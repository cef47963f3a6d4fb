// How long after its commit an entry is in the log while the service is busy: a spend among the load, and then the log is asked
// until it has the entry under a signed checkpoint.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { beginLoad } from '../stage/measure.ts'
import { connections } from '../stage/sides.ts'
import type { Stage } from '../stage/stage.ts'

const lookEveryMs = 50
const probeEveryMs = 200
const warmSeconds = 2

const loggedText = `
  select exists (select from log_runs r join log_head h on h.size > r.first_leaf + e.entry_number - r.first_entry
                 where r.customer_id = e.customer_id and e.entry_number between r.first_entry and r.last_entry) as logged
  from ledger_entries e where e.customer_id = $1 and e.reference = $2`

/** Seconds, of entries that are made all the time while the load lasts. */
export async function measureDelays(stage: Stage, seconds: number): Promise<number[]> {
  const wanted = { workload: 'spend over many customers', connections, seconds, warmSeconds } as const
  const load = await beginLoad(stage, 'service', wanted)
  const pool = new pg.Pool({ ...stage.books.server.connection, max: 2 })
  const probes: Promise<number>[] = []
  let isOver = false
  try {
    await load.measuring()
    const measured = load.measured().finally(() => {
      isOver = true
    })
    while (!isOver) {
      probes.push(measureDelay(stage, pool))
      await sleep(probeEveryMs)
    }
    await measured
    return await Promise.all(probes)
  } finally {
    await Promise.allSettled(probes)
    await pool.end()
    await load.finished()
  }
}

async function measureDelay({ books, contenders }: Stage, pool: pg.Pool): Promise<number> {
  const { customerId } = books.customers[0] as { customerId: string }
  const reference = `probe_${randomUUID()}`
  const url = `http://127.0.0.1:${contenders.service?.listening.internalPort}/internal/v1/credits/spend`
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${books.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ customerId, credits: 1, reference }),
  })
  if (response.status !== 200) throw new Error(`a spend was answered with ${response.status}`)
  await response.arrayBuffer()
  const committedAt = performance.now()
  for (;;) {
    const { rows } = await pool.query<{ logged: boolean }>(loggedText, [customerId, reference])
    if (rows[0]?.logged) return (performance.now() - committedAt) / 1_000
    await sleep(lookEveryMs)
  }
}
