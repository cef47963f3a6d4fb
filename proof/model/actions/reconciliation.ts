// Reconciles with the gateway's own list, by the command that an operator would run.
import type { CommandResult } from '../../world/commands.ts'
import type { World } from '../../world/world.ts'

const dayMs = 86_400_000
const aheadMs = 120_000

/**
 * Reconciles the whole campaign and a day around it. The command leaves out the last minute, which a real gateway may
 * not list yet; the sandbox lists it at once, so the command's clock is set ahead.
 */
export function runReconciliation(world: World): Promise<CommandResult> {
  const time = (ms: number) => new Date(ms).toISOString()
  const args = ['reconcile', '--from', time(Date.now() - dayMs), '--to', time(Date.now() + dayMs), '--json']
  return world.runCommand(args, { clockShiftMs: aheadMs })
}
