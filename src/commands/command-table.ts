// All commands, in the order and the groups in which help shows them.
import { actionCommands } from './action-commands.ts'
import { copyCommands } from './backup/copy-commands.ts'
import { bookCommands } from './book-commands.ts'
import type { Command, CommandGroup } from './command.ts'
import { customerCommands } from './customer-commands.ts'
import { eventCommands } from './event-commands.ts'
import { keyCommands } from './key-commands.ts'
import { migrateCommand } from './migrate-command.ts'
import { operatorCommands } from './operator-commands.ts'
import { orderCommands } from './order-commands.ts'
import { serviceCommands } from './service-commands.ts'
import { shellCommands } from './shell-commands.ts'

const workGroups: CommandGroup[] = [
  { title: 'Keys and tokens', commands: [...keyCommands, ...serviceCommands] },
  { title: 'Customers', commands: customerCommands },
  { title: 'Orders', commands: orderCommands },
  { title: 'The books', commands: [...bookCommands, ...actionCommands] },
  { title: 'Events', commands: eventCommands },
  { title: 'The console', commands: operatorCommands },
  { title: 'The database', commands: [migrateCommand, ...copyCommands] },
]

export const commandGroups: CommandGroup[] = [
  ...workGroups,
  { title: 'The shell', commands: shellCommands(workGroups.flatMap(({ commands }) => commands)) },
]

export const commands: Command[] = commandGroups.flatMap((group) => group.commands)
