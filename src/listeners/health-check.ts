// For whoever watches a container: asks the service of the same environment whether it can serve, and ends with 0 or 1. In
// place of curl, which the image does not have.
import { readConfig } from '../config.ts'

const limitMs = 2_500
/** Everywhere is here too. */
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
