// All checks, for a moment when everything is settled.
import type { Lies } from '../../world/gateway.ts'
import type { World } from '../../world/world.ts'
import type { FinalPages } from '../operators/final-pages.ts'
import { checkActionLog } from './action-log.ts'
import { checkAnswers } from './answers.ts'
import { checkEvents } from './events.ts'
import { type Check, checksOf, type Evidence } from './evidence.ts'
import { checkFailovers } from './failovers.ts'
import { checkHome } from './home.ts'
import { checkKeys } from './keys.ts'
import { checkAdjustments } from './money/adjustments.ts'
import { checkBalances } from './money/balances.ts'
import { checkBooks } from './money/books.ts'
import { checkBudgets } from './money/budgets.ts'
import { checkGateway } from './money/gateway.ts'
import { checkHolds } from './money/holds.ts'
import { checkLots } from './money/lots.ts'
import { checkOrders } from './money/orders.ts'
import { checkPurchases } from './money/purchases.ts'
import { checkReversals } from './money/reversals.ts'
import { checkSpends } from './money/spends.ts'
import type { Watched } from './money/watch.ts'
import { checkNotifications } from './notifications.ts'
import { checkOperators } from './operators.ts'
import type { Quiet } from './quiet.ts'
import { checkReasons } from './reasons.ts'
import { checkReceipts } from './receipts.ts'
import { checkSecrets } from './secrets.ts'
import { checkSuspensions } from './suspensions.ts'

export const processEndCheck = 'C-30 no process ended by itself, and SIGTERM ends a service with 0 in time'

/** What was found while everything settled. */
export type Ended = Quiet & { ignoredNotifications: string[]; finalPages: FinalPages }

export type ToCheck = {
  world: World
  evidence: Evidence
  watch: Watched
  quiet: Ended
  /** Lookups for which the gateway has reported another order. */
  lies: Lies
  /** Processes that did not end as they must. */
  endedWrongly: string[]
  /** Answers that must not occur. */
  answeredWrongly: string[]
}

export async function checkEverything(parts: ToCheck): Promise<Check[]> {
  const { world, evidence, watch, quiet, lies, endedWrongly, answeredWrongly } = parts
  return [
    ...checksOf({ 'I-13 everything is settled within a minute after the faults': quiet.stranded }),
    ...(await checkBooks(world, watch)),
    await checkReceipts(world, evidence),
    ...checkGateway(evidence),
    ...(await checkLots(world, evidence)),
    ...checkPurchases(evidence),
    ...checkOrders(evidence),
    ...checkSpends(evidence),
    ...checkHolds(evidence),
    ...checkReversals(evidence),
    ...checkAdjustments(evidence),
    ...checkBudgets(evidence),
    ...checkSuspensions(world, evidence),
    ...checkBalances(evidence),
    ...(await checkEvents(world, evidence, quiet.settledAt)),
    ...checkAnswers(evidence),
    ...(await checkNotifications(world, quiet.ignoredNotifications)),
    ...(await checkReasons(world, evidence, lies)),
    ...(await checkActionLog(world, evidence)),
    ...(await checkOperators(world, evidence)),
    ...(await checkKeys(world, evidence)),
    ...(await checkHome(world, evidence, quiet.finalPages)),
    await checkSecrets(world),
    ...checkFailovers(world, evidence),
    ...checksOf({
      [processEndCheck]: [...world.services.flatMap(({ endedByItself }) => endedByItself), ...endedWrongly],
      'W-4 refunds, forged notifications and sibling services are answered as they must be': answeredWrongly,
    }),
  ]
}
