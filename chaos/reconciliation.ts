// The gateway's own list against the books, at the end of a campaign: a notification that was dropped is found by this
// and by nothing else.
import { reconcile } from '../src/payments/reconcile.ts'
import type { Platform } from './platform.ts'

const hourMs = 3_600_000

/** The whole campaign, and a little before it. */
export async function reconcileAll({ context }: Platform): Promise<void> {
  const now = Date.now()
  await reconcile(context, { from: new Date(now - 24 * hourMs), to: new Date(now + hourMs) })
}
