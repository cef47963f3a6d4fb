// Opens tracing when the settings name a collector. The library is loaded only then: without a collector it costs neither
// memory nor time.
import { noTracing, type Tracing } from '../core/tracing.ts'
import { readVersion } from '../core/version.ts'
import type { Log } from '../db/database.ts'
import type { TracingSettings } from './tracing.ts'

type Options = { tracing: Omit<TracingSettings, 'version'> | undefined }

export async function openTracing({ tracing: settings }: Options, log: Log): Promise<Tracing> {
  if (!settings) return noTracing
  const { createTracing } = await import('./tracing.ts')
  return createTracing({ ...settings, version: readVersion() }, log)
}
