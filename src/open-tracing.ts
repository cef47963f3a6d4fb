// Tracing, where the settings name a collector. Its library is loaded then and only then: without it nothing of it costs
// memory or time.
import type { Config } from './config.ts'
import { noTracing, type Tracing } from './core/tracing.ts'
import type { Log } from './db/database.ts'
import { readVersion } from './version.ts'

export async function openTracing({ tracing: settings }: Config, log: Log): Promise<Tracing> {
  if (!settings) return noTracing
  const { createTracing } = await import('./tracing/tracing.ts')
  return createTracing({ ...settings, version: readVersion() }, log)
}
