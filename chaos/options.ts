// The command line of the campaign. Every option has a default, so `npm run chaos` alone is a whole run.
import { mostMinutes, readArguments, readDecimal, readWholeNumber, seedRange } from '../harness/options.ts'

export type Options = {
  seed: number
  /** How long the services are under load; waiting for quiet and the checks come on top. */
  minutes: number
  /** A file for the report as JSON. */
  json: string | undefined
  /** Keeps the directory of a run that passed too. */
  keep: boolean
}

const commandLine = {
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '5' },
    json: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
  usage: ' (npm run chaos -- [--seed N] [--minutes M] [--json FILE] [--keep])',
} as const

export function readOptions(args: string[], randomSeed: number): Options {
  return readArguments(args, commandLine, ({ seed = `${randomSeed}`, minutes, json, keep }) => ({
    seed: readWholeNumber('--seed', seed, seedRange),
    minutes: readDecimal('--minutes', minutes, { least: 0.2, most: mostMinutes }),
    json,
    keep,
  }))
}
