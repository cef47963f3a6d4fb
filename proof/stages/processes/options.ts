// The command line of the campaign. Every option has a default, so `npm run chaos` alone is a whole run.
import {
  mostMinutes,
  readArguments,
  readDecimal,
  readOneOf,
  readWholeNumber,
  seedRange,
} from '../../../harness/options.ts'
import type { DatabaseChoice } from '../../world/world.ts'

export type Options = {
  seed: number
  /** How long the services are under load; waiting for quiet and the checks come on top. */
  minutes: number
  /** How many customers act at once. */
  clients: number
  /** A file for the report as JSON. */
  json: string | undefined
  /** The database: one server, or a cluster whose primary is lost again and again. */
  database: DatabaseChoice
  /** Keeps the directory of a run that passed too. */
  keep: boolean
  /** Installs the programs of the cluster that are missing. */
  install: boolean
}

/**
 * `packaged` and `asynchronous` show that the checks find what such a cluster loses: Patroni before 3.0.3 when its leader is
 * frozen, asynchronous replication with any loss of the primary.
 */
const databases = {
  none: { kind: 'server' },
  patroni: { kind: 'patroni' },
  'patroni-packaged': {
    kind: 'patroni',
    patroni: 'packaged',
    kinds: ['Patroni of the primary frozen past its lease', 'primary frozen past its lease'],
  },
  citus: { kind: 'citus' },
  'patroni-asynchronous': { kind: 'patroni', replication: 'asynchronous' },
} as const satisfies Record<string, DatabaseChoice>
const clusters = Object.keys(databases) as (keyof typeof databases)[]

const commandLine = {
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '5' },
    clients: { type: 'string', default: '28' },
    json: { type: 'string' },
    cluster: { type: 'string', default: 'none' },
    keep: { type: 'boolean', default: false },
    install: { type: 'boolean', default: false },
  },
  usage:
    ' (npm run chaos -- [--seed N] [--minutes M] [--clients C] [--cluster patroni|citus] [--install] [--json FILE] [--keep])',
} as const

export function readOptions(args: string[], randomSeed: number): Options {
  return readArguments(
    args,
    commandLine,
    ({ seed = `${randomSeed}`, minutes, clients, json, cluster, keep, install }) => {
      const database: DatabaseChoice = databases[readOneOf('--cluster', cluster, clusters)]
      if (install && database.kind !== 'patroni') throw new Error('--install: only for --cluster patroni')
      return {
        seed: readWholeNumber('--seed', seed, seedRange),
        minutes: readDecimal('--minutes', minutes, { least: 0.2, most: mostMinutes }),
        clients: readWholeNumber('--clients', clients, { least: 1, most: 200 }),
        json,
        database,
        keep,
        install,
      }
    },
  )
}
