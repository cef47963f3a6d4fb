// The command line of the fuzzer. Every option has a default, so `npm run fuzz` alone is a whole run.
import { mostMinutes, readArguments, readDecimal, readWholeNumber, seedRange } from '../../../harness/options.ts'

export type Options = {
  seed: number
  /** How long requests are sent; the start and the checks at the end come on top. */
  minutes: number
  /** How many connections are open at a time, each with inputs of its own. */
  connections: number
  /** A file for the report as JSON. */
  json: string | undefined
}

const commandLine = {
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    json: { type: 'string' },
  },
  usage: ' (npm run fuzz -- [--seed N] [--minutes M] [--connections C] [--json FILE])',
} as const

export function readOptions(args: string[], randomSeed: number): Options {
  return readArguments(args, commandLine, ({ seed = `${randomSeed}`, minutes, connections, json }) => ({
    seed: readWholeNumber('--seed', seed, seedRange),
    minutes: readDecimal('--minutes', minutes, { least: 0.1, most: mostMinutes }),
    connections: readWholeNumber('--connections', connections, { least: 1, most: 256 }),
    json,
  }))
}
