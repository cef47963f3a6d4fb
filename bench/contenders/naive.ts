// The naive twin: the same listeners, keys and gateway, and one statement for each request, as a plain service would
// write it. Where a statement of the service is more complex because it is batched, this one is plain; payments
// use the service's own statements, each for one payment.

import { pino } from 'pino'
import { type Config, gatewayOptions, paymentSettings, readConfig } from '../../src/config.ts'
import type { Batch } from '../../src/core/batch.ts'
import { createTallies } from '../../src/core/tallies.ts'
import { createCredits } from '../../src/credits/credits.ts'
import { createAuthenticate } from '../../src/customers/authenticate.ts'
import { createAuthenticateService } from '../../src/customers/service-tokens.ts'
import { openDatabase } from '../../src/db/open.ts'
import { openGateway } from '../../src/gateway/toss/open.ts'
import { buildInternalListener } from '../../src/listeners/internal.ts'
import { buildPublicListener } from '../../src/listeners/public.ts'
import { createPaymentContext } from '../../src/payments/context.ts'
import { claimCancels, claimConfirms } from '../../src/payments/operations/begin.sql.ts'
import { finishOperations } from '../../src/payments/operations/finish.sql.ts'
import { findOrdersForConfirm } from '../../src/payments/operations/read.sql.ts'
import { findOrdersOfKeys } from '../../src/payments/orders.sql.ts'
import { announce, portOf } from './contender.ts'
import { findOrder, insertOrder, readBalance, spend } from './plain-sql.ts'

async function start(config: Config): Promise<void> {
  const log = pino({ level: config.logLevel })
  const { dataDir, databaseUrl, databaseConnections, bodyLimitBytes, keyPeppers } = config
  if (!keyPeppers) throw new Error('KEY_PEPPER is not set')
  const opened = await openDatabase({ dataDir, databaseUrl, databaseConnections, use: 'service', log })
  const { database } = opened
  const { gateway } = openGateway(gatewayOptions(config), log)

  /** A batch of one, as many at a time as there are connections. */
  function alone<Input, Output>(run: (inputs: Input[]) => Promise<Output[]>): Batch<Input, Output> {
    return async (input) => (await run([input]))[0] as Output
  }
  const tallies = createTallies()
  const credits = {
    ...createCredits(database, tallies),
    readBalance: (customerId: string) => readBalance(database, customerId),
    spend: (input: Parameters<typeof spend>[1]) => spend(database, input),
  }
  const settings = paymentSettings(config)
  const context = createPaymentContext({ database, gateway, credits, settings, log, tallies })
  const payments = {
    ...context,
    batches: {
      insertOrder: (order: Parameters<typeof insertOrder>[1]) => insertOrder(database, order),
      findOrder: (key: Parameters<typeof findOrder>[1]) => findOrder(database, key),
      findOrderOfKey: alone((inputs: Parameters<typeof findOrdersOfKeys>[1]) => findOrdersOfKeys(database, inputs)),
      claimConfirm: alone((inputs: Parameters<typeof claimConfirms>[1]) => claimConfirms(database, inputs)),
      findOrderForConfirm: alone((inputs: Parameters<typeof findOrdersForConfirm>[1]) =>
        findOrdersForConfirm(database, inputs),
      ),
      claimCancel: alone((inputs: Parameters<typeof claimCancels>[1]) => claimCancels(database, inputs)),
      finishOperation: alone((inputs: Parameters<typeof finishOperations>[1]) => finishOperations(database, inputs)),
    },
  }
  const authenticate = createAuthenticate(database, keyPeppers)
  const authenticateService = createAuthenticateService(database, keyPeppers)
  const rest = { log, bodyLimitBytes }
  const listener = buildPublicListener({ authenticate, payments, ...rest, rateLimitPerSecond: 0 })
  const internal = buildInternalListener({ database, gateway, credits, authenticateService, ...rest })
  const [publicUrl, internalUrl] = await Promise.all(
    [listener, internal].map((app) => app.listen({ host: '127.0.0.1', port: 0 })),
  )
  announce({ publicPort: portOf(publicUrl ?? ''), internalPort: portOf(internalUrl ?? '') }, async () => {
    await Promise.all([listener.close(), internal.close()])
    await gateway.close()
    await opened.close()
  })
}

await start(readConfig())
