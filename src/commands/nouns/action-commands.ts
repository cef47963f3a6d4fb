// The command that shows the action log.
import { listActions } from '../../operators/action-log.sql.ts'
import type { Command } from '../command.ts'
import { limitOption } from '../line/options.ts'

const listLimit = 1_000

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
]
