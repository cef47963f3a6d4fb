// The platform's own use cases, which the public listener does not offer: run in this process with the settings of a
// service, as a command does.
import { silentLog } from '../../harness/silent-log.ts'
import { gatewayOptions, paymentSettings, readConfig } from '../../src/config.ts'
import { createTallies } from '../../src/core/tallies.ts'
import { openGateway } from '../../src/gateway/toss/open.ts'
import { createPaymentContext, type PaymentContext } from '../../src/payments/context.ts'
import type { Shop } from './shop.ts'
import type { World } from './world.ts'

export type Platform = { context: PaymentContext; close(): Promise<void> }

export async function openPlatform(
  { environment }: Pick<World, 'environment'>,
  { database, credits }: Pick<Shop, 'database' | 'credits'>,
): Promise<Platform> {
  const config = readConfig(environment)
  const { gateway } = openGateway(gatewayOptions(config), silentLog)
  const settings = paymentSettings(config)
  const tallies = createTallies()
  return {
    context: createPaymentContext({ database, gateway, credits, settings, log: silentLog, tallies }),
    close: () => gateway.close(),
  }
}
