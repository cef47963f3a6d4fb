// The command about the trail: who did what.
import { listActions } from './action-sql.ts'
import { type Command, needsNothing } from './command.ts'

const listLimit = 1_000

export const actionCommands: Command[] = [
  {
    name: 'actions list',
    takes: '[--limit N]',
    does: `Lists what operators did, newest first, ${listLimit} at most. Without an outcome: under way, or killed.`,
    changes: false,
    check: ({ positionals, values: { limit = `${listLimit}` } }) => {
      const fault = needsNothing({ positionals })
      if (fault) return fault
      if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > listLimit) return `--limit: a number from 1 to ${listLimit}`
    },
    async run({ database, values }) {
      const actions = await listActions(database, Number(values.limit ?? listLimit))
      if (values.json) return actions
      return actions.map(({ at, actor, command, arguments: words, outcome, about }) => {
        return { at, actor, command, arguments: words.join(' '), outcome, about: Object.values(about ?? {}).join(' ') }
      })
    },
  },
]
