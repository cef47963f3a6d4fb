// The command about the trail: who did what.
import { listActions } from '../operators/action-log.sql.ts'
import type { Command } from './command.ts'
import { limitOption } from './line/options.ts'

const listLimit = 1_000

export const actionCommands: Command[] = [
  {
    name: 'actions list',
    does: `Lists what operators did, newest first, ${listLimit} at most. Without an outcome: under way, or killed.`,
    more: ['Every command that changes something is written down before it begins and when it has ended.'],
    options: { limit: limitOption(listLimit) },
    examples: [{ line: 'actions list --limit 20', does: 'the last twenty' }],
    changes: false,
    async run({ database, values }) {
      const actions = await listActions(database, Number(values.limit ?? listLimit))
      if (values.json) return actions
      return actions.map(({ at, actor, command, arguments: words, reason, outcome, about }) => {
        const [told, ids] = [words.join(' '), Object.values(about ?? {}).join(' ')]
        return { at, actor, command, arguments: told, reason, outcome, about: ids }
      })
    },
  },
]
