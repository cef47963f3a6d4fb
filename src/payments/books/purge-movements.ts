// Deletes the copies of the gateway's movements when their days were reconciled long ago. The sums of each day stay in its
// reconciliation, the books stay for ever, and a span that is reconciled again is copied from the gateway again.
import type { PaymentContext } from '../context.ts'
import { deleteMovements } from './reconcile.sql.ts'

const deletedAtOnce = 1_000

/** `more`: the batch was full, and there may be more. */
export async function purgeMovements({ database, settings }: PaymentContext): Promise<{ more: boolean }> {
  const { movementsKeptDays } = settings
  if (movementsKeptDays === 0) return { more: false }
  return { more: (await deleteMovements(database, movementsKeptDays, deletedAtOnce)) === deletedAtOnce }
}
