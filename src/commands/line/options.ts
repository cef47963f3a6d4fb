// Options that several commands take, each described once, and the options that follow from a command's description.
import { namePattern, tellingReasonPattern } from '../../core/one-line.ts'
import { type Argument, type Command, isRecorded, type Option } from '../command.ts'
import { dateFormat, readTime } from './times.ts'

export const isName = (text: string): boolean => namePattern.test(text.trim())

/** An existing customer. */
export const customerOption = {
  value: 'NAME|UUID',
  description: 'the customer, by name or UUID',
  required: true,
  accepts: (text) => text.trim() !== '',
} satisfies Option

export const reasonOption = (description: string): Option => ({
  value: 'TEXT',
  description,
  required: true,
  expects: '3 to 200 characters in one line',
  accepts: (text) => tellingReasonPattern.test(text),
})

export const timeOption = (description: string): Option => ({
  value: 'TIME',
  description,
  expects: dateFormat,
  accepts: (text) => readTime(text, '00:00:00') !== undefined,
})

export const dateOption = (description: string): Option => ({ ...timeOption(description), value: 'DATE' })

export const limitOption = (limit: number): Option => ({
  value: 'N',
  description: `the maximum number of rows; default ${limit}`,
  expects: `a number from 1 to ${limit}`,
  accepts: (text) => /^[1-9]\d{0,8}$/.test(text) && Number(text) <= limit,
})

export const orderArgument: Argument = {
  name: 'ORDERID',
  description: 'the orderId that purchase returned: ord_...',
  listedBy: 'orders list',
}

const byOption: Option = {
  value: 'NAME',
  description: 'your name for the action log; default: your user on this machine',
  expects: 'a name of 1 to 100 characters',
  accepts: isName,
}

/** The name is without dashes; an option without `option` is a switch. */
export type CommandOption = { name: string; description: string; option?: Option }

/** All options of a command, in the order in which its help shows them. */
export function optionsOf(command: Command): CommandOption[] {
  const { options = {}, switches = {}, confirm, writes } = command
  const own = Object.entries(options).map(([name, option]) => ({ name, description: option.description, option }))
  return [
    ...own,
    ...Object.entries(switches).map(([name, description]) => ({ name, description })),
    ...(isRecorded(command) ? [{ name: 'by', description: byOption.description, option: byOption }] : []),
    ...(confirm ? [{ name: 'yes', description: 'skips the confirmation; scripts are never asked' }] : []),
    ...(writes ? [] : [{ name: 'json', description: 'prints one JSON document, for scripts' }]),
  ]
}
