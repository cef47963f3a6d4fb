// The commands that the load and the checks run, each in a simulated process of its own: what the command does, without its
// terminal. One that is killed leaves the rest to the worker.
import { setTimeout as sleep } from 'node:timers/promises'
import { asOperator } from '../../../../harness/as-operator.ts'
import { silentLog } from '../../../../harness/silent-log.ts'
import { Refusal } from '../../../../src/core/errors.ts'
import { createTallies } from '../../../../src/core/tallies.ts'
import { createCredits } from '../../../../src/credits/credits.ts'
import { createDatabase, createPool } from '../../../../src/db/database.ts'
import { audit } from '../../../../src/payments/audit/audit.ts'
import { isDoubtful, reconcile } from '../../../../src/payments/books/reconcile.ts'
import type { PaymentContext } from '../../../../src/payments/context.ts'
import { refund } from '../../../../src/payments/refunds/refund.ts'
import type { CommandResult, RunCommand } from '../../../world/commands.ts'
import { openPlatform } from '../../../world/platform.ts'
import type { Simulation } from '../core/simulation.ts'

const limitMs = 120_000

/** What it prints; an array: with code 1. */
type Run = (context: PaymentContext, args: string[]) => Promise<object | [object]>

const commands: Record<string, Run> = {
  'orders refund': (context, [, , orderId = '']) =>
    asOperator(context.database, { command: 'orders refund', subject: orderId }, () =>
      refund(context, { orderId, reason: 'goodwill' }),
    ),
  async reconcile(context, args) {
    const time = (name: string) => new Date(args[args.indexOf(name) + 1] ?? '')
    const result = await reconcile(context, { from: time('--from'), to: time('--to') })
    return isDoubtful(result) ? [result] : result
  },
  async audit({ database }) {
    const result = await audit(database, { liveness: 'counted' })
    return result.ok ? result : [result]
  },
}

type Parts = { environment: Record<string, string>; databaseUrl: string }

export function createSimulatedCommands(simulation: Simulation, { environment, databaseUrl }: Parts): RunCommand {
  let count = 0

  async function run(args: string[]): Promise<CommandResult> {
    const found = Object.entries(commands).find(([name]) => args.join(' ').startsWith(name))
    if (!found) throw new Error(`the simulation has no command ${args.join(' ')}`)
    const connection = { connectionString: databaseUrl }
    const pool = createPool({ connection, maxConnections: 4, log: silentLog })
    const database = createDatabase(pool, silentLog)
    const credits = createCredits(database, createTallies())
    const platform = await openPlatform({ environment }, { database, credits })
    try {
      const result = await found[1](platform.context, args)
      const code = Array.isArray(result) ? 1 : 0
      return { code, stdout: JSON.stringify(result), stderr: '' }
    } catch (error) {
      // As the command does: one line, whatever the error is.
      const isExpected = error instanceof Refusal || error instanceof Error
      return { code: isExpected ? 1 : 2, stdout: '', stderr: String(error) }
    } finally {
      await platform.close()
      await pool.end()
    }
  }

  return async (args, { killAfterMs = limitMs, clockShiftMs = 0 } = {}) => {
    count += 1
    const process = simulation.process(`command ${count}`)
    process.skewMs = clockShiftMs
    const done = process.run(() => run(args), args.slice(0, 2).join(' '))
    const late = sleep(killAfterMs, null)
    const ended = await Promise.race([done, late])
    process.kill()
    return ended ?? { code: null, stdout: '', stderr: '' }
  }
}
