// The command line of `npm run books`.
import { readArguments, readWholeNumber } from '../../harness/options.ts'

export type Options = {
  orders: number
  /** Leaves the server running and prints its URL, to look at what was generated. */
  keep: boolean
}

const commandLine = {
  options: {
    orders: { type: 'string', default: '1000000' },
    keep: { type: 'boolean', default: false },
  },
  usage: ' (npm run books -- [--orders N] [--keep])',
} as const

export function readOptions(args: string[]): Options {
  return readArguments(args, commandLine, ({ orders, keep }) => ({
    orders: readWholeNumber('--orders', orders, { least: 1_000, most: 100_000_000 }),
    keep,
  }))
}
