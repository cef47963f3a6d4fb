// The commands that show the action log and write it out.
import { csvLine } from '../../core/csv.ts'
import { type ListedAction, listActions, readActions } from '../../operators/action-log.sql.ts'
import type { Command } from '../command.ts'
import { dateOption, limitOption } from '../line/options.ts'
import { readBounds } from '../line/times.ts'

const listLimit = 1_000

const exported: [name: string, value: (action: ListedAction) => string | Date | null][] = [
  ['at', ({ at }) => at],
  ['actor', ({ actor }) => actor],
  ['command', ({ command }) => command],
  ['arguments', (action) => action.arguments.join(' ')],
  ['subject', ({ subject }) => subject],
  ['reason', ({ reason }) => reason],
  ['outcome', ({ outcome }) => outcome ?? 'in progress'],
  ['endedAt', ({ endedAt }) => endedAt],
  ['about', ({ about }) => about && JSON.stringify(about)],
  ['actionId', ({ actionId }) => actionId],
]

export const actionCommands: Command[] = [
  {
    name: 'actions list',
    summary: `Lists the operators' actions, newest first, at most ${listLimit}.`,
    details: [
      'Every command that changes something is logged before it begins and when it has ended. Until then its outcome is "in ' +
        'progress" (null with --json). The outcome of an action whose process was killed is "unknown": a worker records it. ' +
        'If the process lives and reaches the database again, its own outcome is shown instead.',
    ],
    options: { limit: limitOption(listLimit) },
    examples: [{ line: 'actions list --limit 20', description: 'the last twenty' }],
    changesData: false,
    async run({ database, values }) {
      const actions = await listActions(database, Number(values.limit ?? listLimit))
      if (values.json) return actions
      return actions.map(({ at, actor, command, arguments: typed, reason, outcome, about }) => ({
        at,
        actor,
        command,
        arguments: typed.join(' '),
        reason,
        outcome: outcome ?? 'in progress',
        about: Object.values(about ?? {}).join(' '),
      }))
    },
  },
  {
    name: 'actions export',
    summary: "Writes the operators' actions as CSV, oldest first.",
    options: { from: dateOption('the first day or time'), to: dateOption('the last day or time') },
    examples: [{ line: 'actions export', description: 'all of them; with --from and --to those of a span of days' }],
    writes: 'CSV',
    changesData: false,
    exportsData: true,
    async *stream({ database, values }) {
      yield csvLine(exported.map(([name]) => name))
      const { since, before } = readBounds(values)
      for await (const page of readActions(database, since, before)) {
        yield page.map((action) => csvLine(exported.map(([, value]) => value(action)))).join('')
      }
    },
  },
]
