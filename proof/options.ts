// The command line: one table with the options of each stage, and one parser. Every option has a default, so that a stage
// alone is a whole run.
import {
  mostMinutes,
  type Range,
  readArguments,
  readDecimal,
  readList,
  readOneOf,
  readWholeNumber,
  seedRange,
} from '../harness/options.ts'
import { guards } from './guards/guards.ts'
import type { DatabaseChoice } from './stages/processes/campaign.ts'

/** `shown`: its value in the usage; empty: it has none. `initial`: the text without the option. `also`: its old name. */
type Option<Value> = { shown: string; initial?: string; also?: string; read(text: string, name: string): Value }

const wholeNumber = (shown: string, range: Range, initial: string): Option<number> => ({
  shown,
  initial,
  read: (text, name) => readWholeNumber(name, text, range),
})
const decimal = (shown: string, least: number, most: number, initial: string): Option<number> => ({
  shown,
  initial,
  read: (text, name) => readDecimal(name, text, { least, most }),
})
const optional = <Value>({ shown, read }: Option<Value>): Option<Value | undefined> => ({ shown, read })
const file: Option<string | undefined> = { shown: 'FILE', read: (text) => text }
const flag: Option<boolean> = { shown: '', read: () => true }
/** Another one each time. */
const randomSeed = 'random'
const seed = wholeNumber('N', seedRange, randomSeed)
const minutes = (least: number, initial: string) => decimal('M', least, mostMinutes, initial)

/**
 * `packaged` and `asynchronous` show that the checks find what such a cluster loses: Patroni before 3.0.3 when its leader is
 * frozen, asynchronous replication with any loss of the primary.
 */
const databases: Record<string, DatabaseChoice> = {
  none: { kind: 'server' },
  patroni: { kind: 'patroni' },
  'patroni-packaged': {
    kind: 'patroni',
    patroni: 'packaged',
    kinds: ['Patroni of the primary frozen past its lease', 'primary frozen past its lease'],
  },
  citus: { kind: 'citus' },
  'patroni-asynchronous': { kind: 'patroni', replication: 'asynchronous' },
}

function readDatabase(text: string, name: string): DatabaseChoice {
  return databases[readOneOf(name, text, Object.keys(databases))] as DatabaseChoice
}

const campaign = (cluster: string) => ({
  seed,
  /** Under load; waiting for quiet and the checks come on top. */
  minutes: minutes(0.2, '5'),
  /** How many customers act at once. */
  clients: wholeNumber('C', { least: 1, most: 200 }, '28'),
  cluster: { shown: 'patroni|citus', initial: cluster, read: readDatabase } as Option<DatabaseChoice>,
  /** Installs the programs of the cluster that are missing. */
  install: flag,
  json: file,
  /** Keeps the result as a row of docs/results.md. */
  record: flag,
  /** Keeps the directory of a run that passed too. */
  keep: flag,
})

/** All: every guard that a simulation finds when it is broken. None where there is no text. */
function readGuards(text: string, name: string): string[] {
  if (text === '') return []
  if (text === 'all') return Object.keys(guards).filter((each) => !guards[each]?.outside)
  return readList(text).map((each) => readOneOf(name, each, Object.keys(guards)))
}

/** `script`: the one of package.json that is short for it. */
const stages = {
  simulated: {
    script: 'simulate',
    options: {
      /** The first one. */
      seed,
      /** How many run, one after the other, until one fails. */
      seeds: wholeNumber('COUNT', { least: 1, most: 100_000 }, '1'),
      /** Instead of their number: as long as there is time left, another one begins. */
      minutes: optional(minutes(0.1, '')),
      /** The simulated time of each. */
      hours: decimal('H', 0.1, 24 * 31, '1'),
      /** Runs each seed twice, and compares the events. */
      twice: flag,
      /** A file with the steps to run instead of a plan. */
      steps: file,
      /** Guards that are broken, each in runs of its own. */
      guards: { shown: 'NAME,…|all', initial: '', also: 'sabotage', read: readGuards } as Option<string[]>,
      /** For the requests and answers of the last run, in the form of Jepsen; of a failing one also FILE.shrunk. */
      edn: file,
      json: file,
      record: flag,
      /** For the events of the scheduler, one a line; with --twice also FILE.2. */
      trace: file,
      /** A failing run is not shrunk. */
      'no-shrink': flag,
    },
  },
  processes: { script: 'chaos', options: campaign('none') },
  patroni: { script: undefined, options: campaign('patroni') },
  citus: { script: undefined, options: campaign('citus') },
  calls: {
    script: undefined,
    /** Single faults, and as long as there is time left pairs of them. */
    options: { seed, minutes: minutes(0.1, '10'), json: file, record: flag },
  },
  bytes: {
    script: 'fuzz',
    options: {
      seed,
      /** How long requests are sent; the start and the checks at the end come on top. */
      minutes: minutes(0.1, '3'),
      /** How many are open at a time, each with inputs of its own. */
      connections: wholeNumber('C', { least: 1, most: 256 }, '16'),
      json: file,
      record: flag,
    },
  },
}

export type StageName = keyof typeof stages
export const stageNames = Object.keys(stages) as StageName[]

export type OptionsOf<Stage extends StageName> = {
  [Name in keyof (typeof stages)[Stage]['options']]: (typeof stages)[Stage]['options'][Name] extends Option<infer Value>
    ? Value
    : never
}

/** As it is repeated: with its seed, and without what only says where the result goes. */
export function commandOf(stage: StageName, args: string[], seed: number): string {
  const { script } = stages[stage]
  const kept = args.filter((arg, place) => arg !== '--record' && arg !== '--json' && args[place - 1] !== '--json')
  const seeded = kept.includes('--seed') ? kept : ['--seed', `${seed}`, ...kept]
  return ['npm run', script ?? 'prove', '--', ...(script ? [] : ['--stage', stage]), ...seeded].join(' ')
}

export function readOptions<Stage extends StageName>(
  stage: Stage,
  args: string[],
  anySeed: () => number,
): OptionsOf<Stage> {
  const { script = `prove -- --stage ${stage}`, options } = stages[stage]
  const table = Object.entries<Option<unknown>>(options)
  const shown = table.map(([name, { shown: value }]) => `[--${name}${value && ` ${value}`}]`)
  const types = table.flatMap(([name, { shown: value, also = name }]) =>
    [name, also].map((each) => [each, { type: value ? 'string' : 'boolean' } as const]),
  )
  const usage = ` (npm run ${script}${stages[stage].script ? ' --' : ''} ${shown.join(' ')})`
  return readArguments(args, { options: Object.fromEntries(types), usage }, (given: Record<string, unknown>) => {
    const values = table.map(([name, { shown: value, initial, also = name, read }]) => {
      if (!value) return [name, given[name] === true]
      const text = given[name] ?? given[also] ?? (initial === randomSeed ? `${anySeed()}` : initial)
      return [name, text === undefined ? undefined : read(String(text), `--${name}`)]
    })
    const { install, cluster, ...others } = Object.fromEntries(values)
    if (install && cluster.kind !== 'patroni') throw new Error('--install: only for --cluster patroni')
    return { install, cluster, ...others } as OptionsOf<Stage>
  })
}
