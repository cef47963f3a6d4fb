// The machine of a measurement: figures mean nothing without it.
import { availableParallelism } from 'node:os'
import type pg from 'pg'

export type Machine = { cores: number; architecture: string; node: string; postgres: string; date: string }

export async function machineOf({ books }: { books: { client: pg.ClientBase } }): Promise<Machine> {
  // How it was compiled: for size, as the one from npm, it takes a fifth more of the processor than for speed.
  const { rows } = await books.client.query<{ postgres: string }>(`
    select current_setting('server_version') || coalesce(' compiled ' || substring(setting from '-O[0-9a-z]+'), '') as postgres
    from pg_config where name = 'CFLAGS'`)
  return {
    cores: availableParallelism(),
    architecture: process.arch,
    node: process.version,
    postgres: rows[0]?.postgres ?? '',
    date: new Date().toISOString(),
  }
}

/** The beginning of a report. */
export function describeMachine({ cores, architecture, node, postgres, date }: Machine): string {
  return `${date.slice(0, 10)}: ${cores} cores (${architecture}), Node ${node}, PostgreSQL ${postgres}`
}
