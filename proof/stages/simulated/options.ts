// The command line of the simulation. Every option has a default, so `npm run simulate` alone is a whole run.
import {
  readArguments,
  readDecimal,
  readList,
  readOneOf,
  readWholeNumber,
  seedRange,
} from '../../../harness/options.ts'
import { guards } from '../../guards/guards.ts'

/** Every guard that a simulation finds when it is broken, one after the other. */
const allGuards = 'all'

export type Options = {
  /** The first one. */
  seed: number
  /** So many seeds, one after the other, until one fails. */
  seeds: number
  /** Of simulated time. */
  hours: number
  /** Runs each seed twice, and compares the events. */
  twice: boolean
  /** A file for the requests and answers of the last run, in the form of Jepsen; of a failing one also FILE.shrunk. */
  edn: string | undefined
  /** A file with the steps to run instead of a plan. */
  steps: string | undefined
  /** Guards that are broken, each in runs of its own; empty: none. */
  guards: string[]
  /** A file for the results as JSON. */
  json: string | undefined
  /** A file for the events of the scheduler, one a line; with --twice also FILE.2. */
  trace: string | undefined
  /** A failing run is not shrunk. */
  noShrink: boolean
}

const commandLine = {
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    hours: { type: 'string', default: '1' },
    twice: { type: 'boolean', default: false },
    edn: { type: 'string' },
    steps: { type: 'string' },
    guards: { type: 'string' },
    /** The old name of `guards`. */
    sabotage: { type: 'string' },
    json: { type: 'string' },
    trace: { type: 'string' },
    'no-shrink': { type: 'boolean', default: false },
  },
  usage:
    ' (npm run simulate -- [--seed N] [--seeds COUNT] [--hours H] [--twice] [--steps FILE] [--guards NAME,…|all] [--edn FILE] [--json FILE] [--trace FILE] [--no-shrink])',
} as const

export function readOptions(args: string[], randomSeed: number): Options {
  return readArguments(
    args,
    commandLine,
    ({ seed = `${randomSeed}`, seeds, hours, sabotage, guards: list = sabotage, ...others }) => ({
      seed: readWholeNumber('--seed', seed, seedRange),
      seeds: readWholeNumber('--seeds', seeds, { least: 1, most: 100_000 }),
      hours: readDecimal('--hours', hours, { least: 0.1, most: 24 * 31 }),
      guards: list === undefined ? [] : readGuards(list),
      edn: others.edn,
      steps: others.steps,
      json: others.json,
      trace: others.trace,
      twice: others.twice,
      noShrink: others['no-shrink'],
    }),
  )
}

function readGuards(list: string): string[] {
  if (list === allGuards) return Object.keys(guards).filter((name) => !guards[name]?.outside)
  return readList(list).map((name) => readOneOf('--guards', name, Object.keys(guards)))
}
