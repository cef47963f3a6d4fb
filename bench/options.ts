// The command line of the measurements. Everything has a default, so that `npm run bench` alone is a whole run; whatever
// is wrong with the arguments is one line for people, and the usage.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type WorkloadName, workloadNames } from './load/workloads.ts'

/** How many orders the big books have, or where they are already; those that commands read whole; whether they stay. */
export type BigBooksOptions = { orders: number; linear: number; books: string | undefined; keep: boolean }

export type Options = {
  /** Which of the measurements. */
  word: string
  seconds: number
  rounds: number
  /** Of the soak. */
  minutes?: number
  /** Of the growth and the pages. */
  big?: BigBooksOptions
  connections: number[]
  workloads: WorkloadName[]
  /** The directory for JSON and plots. */
  out: string
  /** Without it the plain insert is measured by a process of Node, as where there is no pgbench. */
  pgbench: boolean
}

export class WrongArguments extends Error {
  override name = 'WrongArguments'
}

const mostSeconds = 3_600
const mostRounds = 100
const mostMinutes = 24 * 60
const leastOrders = 20_000
const mostOrders = 100_000_000
const mostConnections = 1_024
const results = fileURLToPath(new URL('./results', import.meta.url))

const defaults = {
  seconds: '3',
  rounds: '3',
  minutes: '10',
  orders: '5000000',
  linear: '200000',
  connections: '1,64,256',
  out: results,
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
  'no-pgbench': { type: 'boolean' },
} as const

type OptionName = keyof typeof options

/** What a word takes, and the workloads it can measure: all of them unless told, by default those of `workloads`. */
export type Takes = {
  options: readonly OptionName[]
  can?: readonly WorkloadName[]
  workloads?: readonly WorkloadName[]
}

const takesUnlessTold: Takes = {
  options: ['seconds', 'rounds', 'connections', 'workloads', 'out', 'no-pgbench'],
}

/** The first word is the default. */
export function readOptions(args: string[], words: string[], takes: Record<string, Takes> = {}): Options {
  try {
    const { values, positionals } = parseArgs({ args, options, strict: true, allowPositionals: true })
    const [first = words[0] ?? '', ...more] = positionals
    if (more.length > 0) throw new Error(`one measurement at a time, got "${positionals.join(' ')}"`)
    const word = readOneOf('what to measure', first, words)
    const taken = takes[word] ?? takesUnlessTold
    const wrong = (Object.keys(values) as OptionName[]).find((name) => !taken.options.includes(name))
    if (wrong) throw new Error(`--${wrong}: ${word} does not take it`)
    const { seconds, rounds, minutes, orders, linear, connections, out } = { ...defaults, ...values }
    const { can = workloadNames, workloads: some = can } = taken
    return {
      word,
      seconds: readNumber('--seconds', seconds, mostSeconds),
      rounds: readNumber('--rounds', rounds, mostRounds),
      ...(taken.options.includes('minutes') && { minutes: readNumber('--minutes', minutes, mostMinutes) }),
      ...(taken.options.includes('orders') && {
        big: {
          orders: readNumber('--orders', orders, mostOrders, leastOrders),
          linear: readNumber('--linear', linear, mostOrders, leastOrders),
          books: values.books,
          keep: values.keep ?? false,
        },
      }),
      connections: readList(connections).map((each) => readNumber('--connections', each, mostConnections)),
      workloads:
        values.workloads === undefined
          ? [...some]
          : readList(values.workloads).map((each) => readOneOf('--workloads', each, can)),
      out,
      pgbench: !values['no-pgbench'],
    }
  } catch (error) {
    throw new WrongArguments(`${String((error as Error).message).split('\n')[0]}\n${usageOf(words)}`)
  }
}

/** Each once: the same measured twice in a round would be taken for two rounds. */
function readList(text: string): string[] {
  return [...new Set(text.split(',').map((each) => each.trim()))]
}

function readNumber(name: string, text: string, most: number, least = 1): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw new Error(`${name}: expected a whole number from ${least} to ${most}, got "${text}"`)
}

function readOneOf<Name extends string>(what: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text)
  if (found) return found
  throw new Error(`${what}: expected one of ${names.join(', ')}, got "${text}"`)
}

function usageOf(words: string[]): string {
  return (
    `npm run bench -- [${words.join('|')}] [--seconds 3] [--rounds 3] [--connections 1,64,256] ` +
    '[--workloads "purchase,balance"] [--out bench/results] [--no-pgbench]; ' +
    'overload: --seconds --rounds --workloads --out; soak: --minutes 10 --out; profile: --seconds --workloads --out; ' +
    'growth: --orders 5000000 --linear 200000 --keep --books URL --seconds --rounds --out; ' +
    'pages: --orders 5000000 --keep --books URL --rounds --out'
  )
}
