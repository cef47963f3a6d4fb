// All commands, in the groups and the order in which help shows them.
import { actionCommands } from './action-commands.ts'
import { bookCommands } from './book-commands.ts'
import type { Command, CommandGroup } from './command.ts'
import { customerCommands } from './customer-commands.ts'
import { databaseCommands } from './database/database-commands.ts'
import { eventCommands } from './event-commands.ts'
import { keyCommands } from './key-commands.ts'
import { operatorCommands } from './operator-commands.ts'
import { orderCommands } from './order-commands.ts'
import { serviceCommands } from './service-commands.ts'
import { shellCommands } from './shell-commands.ts'

const serviceGroups: CommandGroup[] = [
  { title: 'Keys and tokens', commands: [...keyCommands, ...serviceCommands] },
  { title: 'Customers', commands: customerCommands },
  { title: 'Orders', commands: orderCommands },
  { title: 'The books', commands: [...bookCommands, ...actionCommands] },
  { title: 'Events', commands: eventCommands },
  { title: 'The console', commands: operatorCommands },
  { title: 'The database', commands: databaseCommands },
]

export const commandGroups: CommandGroup[] = [
  ...serviceGroups,
  { title: 'The shell', commands: shellCommands(serviceGroups.flatMap(({ commands }) => commands)) },
]

export const commands: Command[] = commandGroups.flatMap((group) => group.commands)
