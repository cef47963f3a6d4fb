// Starts the service with what development needs around it: the sandbox as the gateway, the example shop, generated secrets
// and a demo key. A service in production with the real gateway does not load this file.
import type { Logger } from 'pino'
import type { RunningStorefront } from '../../examples/storefront/server.ts'
import type { Config } from '../config.ts'
import type { IssuedKey, Peppers } from '../customers/api-keys.ts'
import type { Database } from '../db/database.ts'
import { failUrlOf } from '../payments/fail-url.ts'
import { type Service, type Surroundings, startService } from '../service.ts'
import { startServiceSandbox } from './sandbox.ts'
import { readOrMakePepper, readOrMakeSecret } from './secrets.ts'
import { issueDemoKey, startShop } from './shop.ts'

export type DevelopmentService = Service & {
  storefrontUrl: string | undefined
  /** First start in sandbox mode: the only time this key can be seen. */
  demoKey: IssuedKey | undefined
}

export async function startDevelopment(config: Config, log: Logger): Promise<DevelopmentService> {
  let shop: RunningStorefront | undefined
  let books: { database: Database; peppers: Peppers } | undefined
  let internalUrl: string | undefined

  const surroundings: Surroundings = {
    peppers: () => readOrMakePepper(config.dataDir),
    webhookToken: () => readOrMakeSecret(config.dataDir, 'webhook-token'),
    async open({ database, peppers, webhookUrl, publicUrl }) {
      const around = new AsyncDisposableStack()
      try {
        books = { database, peppers }
        const sandbox = config.gateway.kind === 'sandbox' ? await startServiceSandbox(config, webhookUrl) : undefined
        around.defer(async () => sandbox?.close())
        const sandboxUrl = sandbox?.url
        const port = config.storefront?.port
        const shopParts = { database, peppers, publicUrl, internalUrl: () => internalUrl, sandboxUrl }
        if (port !== undefined) shop = await startShop(config, { port, ...shopParts })
        around.defer(async () => shop?.close())
        // A shop on a free port knows its address only now.
        const urls = shop &&
          config.storefront?.hasOwnUrls && {
            successUrl: `${shop.url}/success`,
            failUrlOf: failUrlOf(`${shop.url}/fail`),
          }
        return { sandboxUrl, settings: urls || {}, close: () => around.disposeAsync() }
      } catch (error) {
        await around.disposeAsync()
        throw error
      }
    },
  }

  const service = await startService(config, log, surroundings)
  internalUrl = service.internalUrl
  // The key is shown once, so it is not issued for a start that fails. Without a database now, the next start issues it.
  const demoKey =
    books && shop && service.sandboxUrl
      ? await issueDemoKey(books.database, books.peppers).catch(() => undefined)
      : undefined
  return {
    ...service,
    storefrontUrl: shop?.url,
    demoKey,
    async close() {
      try {
        await shop?.close()
      } finally {
        await service.close()
      }
    },
  }
}
