// All commands, in the groups and the order in which help shows them.

import type { Command, CommandGroup } from './command.ts'
import { databaseCommands } from './database/database-commands.ts'
import { actionCommands } from './nouns/action-commands.ts'
import { adjustmentCommands } from './nouns/adjustment-commands.ts'
import { bookCommands } from './nouns/book-commands.ts'
import { budgetCommands } from './nouns/budget-commands.ts'
import { customerCommands } from './nouns/customer-commands.ts'
import { eventCommands } from './nouns/event-commands.ts'
import { keyCommands } from './nouns/key-commands.ts'
import { operatorCommands } from './nouns/operator-commands.ts'
import { orderCommands } from './nouns/order-commands.ts'
import { receiptCommands } from './nouns/receipt-commands.ts'
import { serviceCommands } from './nouns/service-commands.ts'
import { shellCommands } from './nouns/shell-commands.ts'
import { useCommands } from './nouns/use-commands.ts'
import { verifyCommands } from './verify-commands.ts'

const serviceGroups: CommandGroup[] = [
  { title: 'Keys and tokens', commands: [...keyCommands, ...serviceCommands] },
  { title: 'Customers', commands: [...customerCommands, ...useCommands, ...adjustmentCommands, ...budgetCommands] },
  { title: 'Orders', commands: orderCommands },
  { title: 'Receipts', commands: [...receiptCommands, ...verifyCommands] },
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
