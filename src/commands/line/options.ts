// Options that several commands take, each described once, and those that come with what a command is.
import { namePattern, reasonPattern } from '../../core/one-line.ts'
import type { Argument, Command, Option } from '../command.ts'
import { dateFormat, readTime } from './times.ts'

export const isName = (text: string): boolean => namePattern.test(text.trim())

/** One that is there. */
export const customerOption = {
  value: 'NAME|UUID',
  about: 'the customer, by name or by UUID',
  needed: true,
  accepts: (text) => text.trim() !== '',
} satisfies Option

export const reasonOption = (about: string): Option => ({
  value: 'TEXT',
  about,
  needed: true,
  expects: '1 to 200 characters',
  accepts: (text) => reasonPattern.test(text),
})

export const timeOption = (about: string): Option => ({
  value: 'TIME',
  about,
  expects: dateFormat,
  accepts: (text) => readTime(text, '00:00:00') !== undefined,
})

export const dateOption = (about: string): Option => ({ ...timeOption(about), value: 'DATE' })

export const limitOption = (limit: number): Option => ({
  value: 'N',
  about: `how many at most, ${limit} if left out`,
  expects: `a number from 1 to ${limit}`,
  accepts: (text) => /^[1-9]\d{0,8}$/.test(text) && Number(text) <= limit,
})

export const orderArgument: Argument = { name: 'ORDERID', about: 'the order, as purchase gave it back: ord_...' }

const byOption: Option = {
  value: 'NAME',
  about: 'who does it, for the trail; else your user on this machine',
  expects: 'a name of 1 to 100 characters',
  accepts: isName,
}

/** By its name, without the dashes; an option without a value is a switch. */
export type TakenOption = { name: string; about: string; option?: Option }

/** All that a command takes, in the order in which its help shows them. */
export function optionsOf({ options = {}, changes, confirm, writes }: Command): TakenOption[] {
  const own = Object.entries(options).map(([name, option]) => ({ name, about: option.about, option }))
  return [
    ...own,
    ...(changes ? [{ name: 'by', about: byOption.about, option: byOption }] : []),
    ...(confirm ? [{ name: 'yes', about: 'goes on without asking; only a terminal is asked' }] : []),
    ...(writes ? [] : [{ name: 'json', about: 'one JSON document, for scripts' }]),
  ]
}
