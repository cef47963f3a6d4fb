// The health check of the container: calls /readyz of the service with the same environment and exits with 0 or 1. The image has
// no curl.
import { readConfig } from '../config.ts'

const limitMs = 2_500
/** A service that listens on all addresses is reached on the local one. */
const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

async function isReady(): Promise<boolean> {
  const { internalHost, internalPort } = readConfig()
  const host = everywhere[internalHost] ?? internalHost
  const answer = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${internalPort}/readyz`, {
    signal: AbortSignal.timeout(limitMs),
  })
  return answer.ok
}

process.exit((await isReady().catch(() => false)) ? 0 : 1)
