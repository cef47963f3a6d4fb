// The command line of the measurements. Every option has a default, so `npm run bench` alone is a whole run.
import { fileURLToPath } from 'node:url'
import {
  mostMinutes,
  type Range,
  readArguments,
  readList,
  readOneOf,
  readWholeNumber,
  seedRange,
} from '../harness/options.ts'
import { type WorkloadName, workloadNames } from './load/workloads.ts'

const ordersRange = { least: 20_000, most: 100_000_000 }

/** Defaults and ranges. `linear`: the orders of the books that commands read whole. */
const numbers = {
  seconds: { usually: 3, least: 1, most: 3_600 },
  rounds: { usually: 3, least: 1, most: 100 },
  minutes: { usually: 10, least: 1, most: mostMinutes },
  orders: { usually: 5_000_000, ...ordersRange },
  linear: { usually: 200_000, ...ordersRange },
  entries: { usually: 1_000_000, least: 1_000, most: 100_000_000 },
  attacks: { usually: 1_000, least: 1, most: 1_000_000 },
  seed: { usually: 1, ...seedRange },
  leaves: { usually: 20_000_000, least: 100_000, most: 1_000_000_000 },
} satisfies Record<string, Range & { usually: number }>
type NumberName = keyof typeof numbers
const numberNames = Object.keys(numbers) as NumberName[]

const connectionsRange = { least: 1, most: 1_024 }

export type Options = Record<NumberName, number> & {
  measurement: string
  connections: number[]
  workloads: WorkloadName[]
  /** The URL of big books that exist already. */
  books: string | undefined
  /** Whether big books stay. */
  keep: boolean
  /** The directory of the report. */
  out: string
  /** Without it the plain insert is measured by a process of Node, as where there is no pgbench. */
  pgbench: boolean
}

const text = { type: 'string' } as const
const others = {
  connections: text,
  workloads: text,
  books: text,
  keep: { type: 'boolean' },
  out: text,
  'no-pgbench': { type: 'boolean' },
} as const
const options = {
  ...others,
  ...(Object.fromEntries(numberNames.map((name) => [name, text])) as Record<NumberName, typeof text>),
}

/**
 * The options of a measurement besides --out, the workloads it can run (all by default) and those it runs by default (all it
 * can), and its other defaults.
 */
export type Takes = {
  options: readonly (keyof typeof options)[]
  can?: readonly WorkloadName[]
  workloads?: readonly WorkloadName[]
  usually?: Partial<Record<NumberName | 'connections', string>>
}

/** The first measurement is the default. */
export function readOptions(args: string[], measurements: Record<string, Takes>): Options {
  const names = Object.keys(measurements)
  const commandLine = { options, usage: `\n${usageOf(measurements)}`, allowPositionals: true }
  return readArguments(args, commandLine, (values, positionals) => {
    const [first = names[0] ?? '', ...more] = positionals
    if (more.length > 0) throw new Error(`one measurement at a time, got "${positionals.join(' ')}"`)
    const measurement = readOneOf('what to measure', first, names)
    const taken = measurements[measurement] as Takes
    const wrong = Object.keys(values).find((name) => name !== 'out' && !taken.options.some((each) => each === name))
    if (wrong) throw new Error(`--${wrong}: ${measurement} does not take it`)
    const { can = workloadNames, workloads: some = can } = taken
    const numberOf = (name: NumberName) =>
      readWholeNumber(`--${name}`, values[name] ?? usualOf(name, taken), numbers[name])
    return {
      ...(Object.fromEntries(numberNames.map((name) => [name, numberOf(name)])) as Record<NumberName, number>),
      measurement,
      connections: readList(values.connections ?? usualOf('connections', taken)).map((each) =>
        readWholeNumber('--connections', each, connectionsRange),
      ),
      workloads:
        values.workloads === undefined
          ? [...some]
          : readList(values.workloads).map((each) => readOneOf('--workloads', each, can)),
      books: values.books,
      keep: values.keep ?? false,
      out: values.out ?? fileURLToPath(new URL('./results', import.meta.url)),
      pgbench: !values['no-pgbench'],
    }
  })
}

function usualOf(name: NumberName | 'connections', { usually }: Takes): string {
  return usually?.[name] ?? (name === 'connections' ? '1,64,256' : `${numbers[name].usually}`)
}

const isNumber = (name: string): name is NumberName => name in numbers

/** What follows an option. */
const written: Partial<Record<keyof typeof options, string>> = { workloads: ' "purchase,balance"', books: ' URL' }

function usageOf(measurements: Record<string, Takes>): string {
  const each = Object.entries(measurements).map(([name, taken]) => {
    const its = taken.options.map((option) => {
      const usual = isNumber(option) || option === 'connections' ? ` ${usualOf(option, taken)}` : ''
      return `--${option}${usual || (written[option] ?? '')}`
    })
    return `${name}: ${its.join(' ')}`
  })
  return `npm run bench -- [${Object.keys(measurements).join('|')}] [--out bench/results]; ${each.join('; ')}`
}
