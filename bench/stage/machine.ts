// The machine of a measurement: figures mean nothing without it.
import { availableParallelism } from 'node:os'
import type { Stage } from './stage.ts'

export type Machine = { cores: number; architecture: string; node: string; postgres: string; date: string }

export async function machineOf({ books }: Stage): Promise<Machine> {
  const { rows } = await books.client.query<{ server_version: string }>('show server_version')
  return {
    cores: availableParallelism(),
    architecture: process.arch,
    node: process.version,
    postgres: rows[0]?.server_version ?? '',
    date: new Date().toISOString(),
  }
}

/** The beginning of a report. */
export function describeMachine({ cores, architecture, node, postgres, date }: Machine): string {
  return `${date.slice(0, 10)}: ${cores} cores (${architecture}), Node ${node}, PostgreSQL ${postgres}`
}
