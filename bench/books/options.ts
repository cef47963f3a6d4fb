// The command line of the measurement of the books. Whatever is wrong with the arguments is one line for people.
import { parseArgs } from 'node:util'

export type Options = {
  orders: number
  /** Leaves the server running and says where, to look at what was generated. */
  keep: boolean
}

export class WrongArguments extends Error {
  override name = 'WrongArguments'
}

const leastOrders = 1_000
const mostOrders = 100_000_000
const defaultOrders = 1_000_000

const usage = 'npm run books -- [--orders N] [--keep]'

export function readOptions(args: string[]): Options {
  const { orders, keep = false } = parse(args)
  return { orders: orders === undefined ? defaultOrders : readOrders(orders), keep }
}

function parse(args: string[]) {
  try {
    const options = { orders: { type: 'string' }, keep: { type: 'boolean' } } as const
    return parseArgs({ args, options, strict: true }).values
  } catch (error) {
    throw new WrongArguments(`${String((error as Error).message).split('\n')[0]} (${usage})`)
  }
}

function readOrders(text: string): number {
  const orders = Number(text)
  if (/^\d+$/.test(text) && orders >= leastOrders && orders <= mostOrders) return orders
  throw new WrongArguments(
    `--orders: expected a whole number from ${leastOrders} to ${mostOrders}, got "${text}" (${usage})`,
  )
}
