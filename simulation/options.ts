// The command line of the simulation. Every option has a default, so `npm run simulate` alone is a whole run.
import { readArguments, readDecimal, readOneOf, readWholeNumber, seedRange } from '../harness/options.ts'
import { sabotages } from './sabotage/sabotages.ts'

/** Every sabotage, one after the other. */
export const allSabotages = 'all'

export type Options = {
  /** The first one. */
  seed: number
  /** So many seeds, one after the other, until one fails. */
  seeds: number
  /** Of simulated time. */
  hours: number
  /** Runs each seed twice, and compares the histories. */
  twice: boolean
  /** A file for the history of the last run, in the form of Jepsen. */
  edn: string | undefined
  /** A file with the steps to run instead of a plan. */
  steps: string | undefined
  /** A guard that is broken first; `all`: every one, in runs of its own. */
  sabotage: string | undefined
  /** A file for the results as JSON. */
  json: string | undefined
  /** A file for the events of the scheduler, one a line; with --twice also FILE.2. */
  trace: string | undefined
  /** A failing run is not shrunk. */
  whole: boolean
}

const commandLine = {
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    hours: { type: 'string', default: '1' },
    twice: { type: 'boolean', default: false },
    edn: { type: 'string' },
    steps: { type: 'string' },
    sabotage: { type: 'string' },
    json: { type: 'string' },
    trace: { type: 'string' },
    whole: { type: 'boolean', default: false },
  },
  usage:
    ' (npm run simulate -- [--seed N] [--seeds COUNT] [--hours H] [--twice] [--steps FILE] [--sabotage NAME] [--edn FILE] [--json FILE] [--trace FILE] [--whole])',
} as const

export function readOptions(args: string[], randomSeed: number): Options {
  return readArguments(args, commandLine, ({ seed = `${randomSeed}`, seeds, hours, sabotage, ...others }) => ({
    seed: readWholeNumber('--seed', seed, seedRange),
    seeds: readWholeNumber('--seeds', seeds, { least: 1, most: 100_000 }),
    hours: readDecimal('--hours', hours, { least: 0.1, most: 24 * 31 }),
    sabotage: sabotage && readOneOf('--sabotage', sabotage, [allSabotages, ...Object.keys(sabotages)]),
    edn: others.edn,
    steps: others.steps,
    json: others.json,
    trace: others.trace,
    twice: others.twice,
    whole: others.whole,
  }))
}
