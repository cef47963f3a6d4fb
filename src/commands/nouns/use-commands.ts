// The command that shows what a customer has used, by day.
import { dayPattern } from '../../core/day-span.ts'
import { type FieldFault, Refusal } from '../../core/errors.ts'
import { type UseDimension, useDimensions } from '../../credits/use/use.sql.ts'
import { mostUseDays, readUse, spanOfUse } from '../../credits/use/use.ts'
import type { Command, Option, Values } from '../command.ts'
import { customerOption } from '../line/options.ts'
import { requireCustomerId } from './customer-option.ts'

const dayOption = (description: string): Option => ({
  value: 'DAY',
  description,
  expects: '2026-01-31 (a Korean day)',
  accepts: (text) => dayPattern.test(text),
})

const spanOf = ({ from, to, per }: Values) =>
  spanOfUse({ ...(from && { from }), ...(to && { to }), ...(per && { by: per as UseDimension }) })

function faultOf(values: Values): string | undefined {
  try {
    spanOf(values)
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const [fault] = (error.metadata?.fields ?? []) as FieldFault[]
    return fault && `--${fault.field} ${fault.rule}`
  }
}

export const useCommands: Command[] = [
  {
    name: 'use show',
    summary: 'Shows what a customer has used, by day in Korea and by service, key, user or label.',
    details: [
      'Credits are those that were spent and captured, less what was given back on the day. Count and units are those of ' +
        `spends, and of holds with their first capture. At most ${mostUseDays} days; the last 31 unless others are named.`,
    ],
    options: {
      customer: customerOption,
      from: dayOption('the first day'),
      to: dayOption('the last day'),
      per: { value: 'DIMENSION', description: 'what it is added up by; default service', choices: useDimensions },
    },
    examples: [
      {
        line: 'use show --customer acme --from 2026-01-01 --to 2026-01-31',
        description: 'January in Korea, by service',
      },
      {
        line: 'use show --customer acme --from 2026-01-01 --to 2026-01-31 --per label --json',
        description: 'by label, for a script',
      },
    ],
    changesData: false,
    check: ({ values }) => faultOf(values),
    async run(call) {
      const { sums, rows, ...rest } = await readUse(call.database, {
        ...spanOf(call.values),
        customerId: await requireCustomerId(call),
      })
      return { ...rest, sums, rows }
    },
  },
]
