// The command line of the measurements. Every option has a default, so `npm run bench` alone is a whole run.
import { fileURLToPath } from 'node:url'
import { mostMinutes, readArguments, readList, readOneOf, readWholeNumber, seedRange } from '../harness/options.ts'
import { type WorkloadName, workloadNames } from './load/workloads.ts'

/** How many orders the big books have, or where they are already; those that commands read whole; whether they stay. */
export type BigBooksOptions = { orders: number; linear: number; books: string | undefined; keep: boolean }

/** How many entries of the ledger are logged, and how many random attacks are made on them. */
export type AttackOptions = { entries: number; attacks: number; seed: number }

/** How many leaves the tree has whose proofs are measured, and how many entries are sealed. */
export type LogOptions = { leaves: number; entries: number }

export type Options = {
  measurement: string
  seconds: number
  rounds: number
  /** Of the soak and the clusters. */
  minutes?: number
  /** Of the growth and the pages. */
  big?: BigBooksOptions
  attacks?: AttackOptions
  log?: LogOptions
  connections: number[]
  workloads: WorkloadName[]
  /** The directory for JSON and plots. */
  out: string
  /** Without it the plain insert is measured by a process of Node, as where there is no pgbench. */
  pgbench: boolean
}

const secondsRange = { least: 1, most: 3_600 }
const roundsRange = { least: 1, most: 100 }
const minutesRange = { least: 1, most: mostMinutes }
const ordersRange = { least: 20_000, most: 100_000_000 }
const entriesRange = { least: 1_000, most: 100_000_000 }
const attacksRange = { least: 1, most: 1_000_000 }
const leavesRange = { least: 100_000, most: 1_000_000_000 }
const connectionsRange = { least: 1, most: 1_024 }

const defaults = {
  seconds: '3',
  rounds: '3',
  minutes: '10',
  orders: '5000000',
  linear: '200000',
  connections: '1,64,256',
  entries: '1000000',
  attacks: '1000',
  seed: '1',
  leaves: '20000000',
  out: fileURLToPath(new URL('./results', import.meta.url)),
}
const options = {
  seconds: { type: 'string' },
  rounds: { type: 'string' },
  minutes: { type: 'string' },
  connections: { type: 'string' },
  workloads: { type: 'string' },
  out: { type: 'string' },
  orders: { type: 'string' },
  linear: { type: 'string' },
  books: { type: 'string' },
  keep: { type: 'boolean' },
  entries: { type: 'string' },
  attacks: { type: 'string' },
  seed: { type: 'string' },
  leaves: { type: 'string' },
  'no-pgbench': { type: 'boolean' },
} as const

type OptionName = keyof typeof options

/**
 * The options of a measurement, the workloads it can run (all by default) and those it runs by default (all it can), and its
 * other defaults.
 */
export type Takes = {
  options: readonly OptionName[]
  can?: readonly WorkloadName[]
  workloads?: readonly WorkloadName[]
  usually?: { minutes?: string; connections?: string; seconds?: string; rounds?: string }
}

const takesByDefault: Takes = {
  options: ['seconds', 'rounds', 'connections', 'workloads', 'out', 'no-pgbench'],
}

/** The first measurement is the default. */
export function readOptions(args: string[], measurements: string[], takes: Record<string, Takes> = {}): Options {
  const commandLine = { options, usage: `\n${usageOf(measurements)}`, allowPositionals: true }
  return readArguments(args, commandLine, (values, positionals) => {
    const [first = measurements[0] ?? '', ...more] = positionals
    if (more.length > 0) throw new Error(`one measurement at a time, got "${positionals.join(' ')}"`)
    const measurement = readOneOf('what to measure', first, measurements)
    const taken = takes[measurement] ?? takesByDefault
    const wrong = (Object.keys(values) as OptionName[]).find((name) => !taken.options.includes(name))
    if (wrong) throw new Error(`--${wrong}: ${measurement} does not take it`)
    const { can = workloadNames, workloads: some = can, usually } = taken
    const { seconds, rounds, minutes, orders, linear, connections, out, ...sizes } = {
      ...defaults,
      ...usually,
      ...values,
    }
    const entries = readWholeNumber('--entries', sizes.entries, entriesRange)
    return {
      measurement,
      seconds: readWholeNumber('--seconds', seconds, secondsRange),
      rounds: readWholeNumber('--rounds', rounds, roundsRange),
      ...(taken.options.includes('minutes') && { minutes: readWholeNumber('--minutes', minutes, minutesRange) }),
      ...(taken.options.includes('orders') && {
        big: {
          orders: readWholeNumber('--orders', orders, ordersRange),
          linear: readWholeNumber('--linear', linear, ordersRange),
          books: values.books,
          keep: values.keep ?? false,
        },
      }),
      ...(taken.options.includes('attacks') && {
        attacks: {
          entries,
          attacks: readWholeNumber('--attacks', sizes.attacks, attacksRange),
          seed: readWholeNumber('--seed', sizes.seed, seedRange),
        },
      }),
      ...(taken.options.includes('leaves') && {
        log: { entries, leaves: readWholeNumber('--leaves', sizes.leaves, leavesRange) },
      }),
      connections: readList(connections).map((each) => readWholeNumber('--connections', each, connectionsRange)),
      workloads:
        values.workloads === undefined
          ? [...some]
          : readList(values.workloads).map((each) => readOneOf('--workloads', each, can)),
      out,
      pgbench: !values['no-pgbench'],
    }
  })
}

function usageOf(measurements: string[]): string {
  return (
    `npm run bench -- [${measurements.join('|')}] [--seconds 3] [--rounds 3] [--connections 1,64,256] ` +
    '[--workloads "purchase,balance"] [--out bench/results] [--no-pgbench]; ' +
    'overload: --seconds --rounds --workloads --out; soak: --minutes 10 --out; profile: --seconds --workloads --out; ' +
    'growth: --orders 5000000 --linear 200000 --keep --books URL --seconds --rounds --out; ' +
    'pages: --orders 5000000 --keep --books URL --rounds --out; ' +
    'cluster: --minutes 8 --seconds --connections 64 --workloads --out; ' +
    'log: --seconds 10 --rounds 7 --leaves 20000000 --entries 1000000 --out; ' +
    'attacks: --entries 1000000 --attacks 1000 --seed 1 --out'
  )
}
