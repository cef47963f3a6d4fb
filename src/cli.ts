// `npm run -s credits -- <noun> <verb>`: the operator's commands, as a table. Works beside a running service and without
// one. Exit code 0: done; 1: refused or failed; 2: not a command.
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { ConfigFaults, readConfig } from './config.ts'
import { issueKey, type Peppers } from './customers/api-keys.ts'
import { readOrMakePepper } from './customers/pepper-file.ts'
import { type KeyStatus, listKeys, updateKeyStatus } from './customers/sql.ts'
import type { Database } from './db/database.ts'
import { openDatabase } from './db/open.ts'

type Call = { database: Database; peppers: Peppers; positionals: string[]; values: Values }
type Values = { customer?: string; json?: boolean }
type Command = {
  name: string
  takes: string
  does: string
  /** What is missing or wrong in the call, if anything. */
  check: (call: Pick<Call, 'positionals' | 'values'>) => string | undefined
  run: (call: Call) => Promise<object | object[]>
}

const listLimit = 1_000
/** One line of text. */
const customerPattern = /^[^\p{C}]{1,100}$/u

const needsKeyId = ({ positionals }: Pick<Call, 'positionals'>) =>
  positionals.length === 1 ? undefined : 'exactly one KEYID is needed (see: keys list)'

const commands: Command[] = [
  {
    name: 'keys issue',
    takes: '--customer NAME|UUID',
    does: 'Issues an API key, for a new customer or one more for a known one. Shown this once.',
    check: ({ positionals, values }) => {
      if (positionals.length > 0)
        return `"${positionals[0]}" is one word too many: a name of several words needs quotes`
      if (!customerPattern.test(values.customer?.trim() ?? ''))
        return '--customer NAME|UUID is needed, a name of 1 to 100 characters'
    },
    run: ({ database, peppers, values }) => issueKey(database, peppers, values.customer?.trim() ?? ''),
  },
  {
    name: 'keys suspend',
    takes: 'KEYID',
    does: 'Suspends a key: AUTH003 within a second on every instance.',
    check: needsKeyId,
    run: (call) => setStatus(call, 'SUSPENDED'),
  },
  {
    name: 'keys activate',
    takes: 'KEYID',
    does: 'Makes a suspended key work again.',
    check: needsKeyId,
    run: (call) => setStatus(call, 'ACTIVE'),
  },
  {
    name: 'keys list',
    takes: '',
    does: `Lists the keys, newest first, ${listLimit} at most.`,
    check: ({ positionals }) => (positionals.length === 0 ? undefined : 'keys list takes no arguments'),
    run: ({ database }) => listKeys(database, listLimit),
  },
]

async function setStatus({ database, positionals }: Call, status: KeyStatus): Promise<object> {
  const [keyId = ''] = positionals
  if (!(await updateKeyStatus(database, keyId, status))) throw new Error(`There is no key ${keyId}.`)
  return { keyId, status }
}

function usage(): string {
  const lines = commands.map(({ name, takes, does }) => `  ${`${name} ${takes}`.padEnd(34)} ${does}`)
  return ['Usage: npm run -s credits -- <command> [--json]', '', ...lines, ''].join('\n')
}

/** Tables for people: one line a row, columns as wide as they need. */
function table(rows: object[]): string {
  const [first] = rows
  if (!first) return 'None.\n'
  const names = Object.keys(first)
  const cells = [names, ...rows.map((row) => Object.values(row).map(cell))]
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  return cells
    .map(
      (line) =>
        `${line
          .map((text, column) => text.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function cell(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '-')
}

function render(result: object | object[], json: boolean | undefined): string {
  if (json) return `${JSON.stringify(result)}\n`
  if (Array.isArray(result)) return table(result)
  return Object.entries(result)
    .map(([name, value]) => `${`${name}:`.padEnd(12)} ${cell(value)}\n`)
    .join('')
}

async function execute(command: Command, positionals: string[], values: Values): Promise<void> {
  const config = readConfig()
  const log = pino({ level: 'silent' })
  const opened = await openDatabase({ ...config, use: 'command', log })
  try {
    const peppers = config.keyPeppers ?? readOrMakePepper(config.dataDir)
    const result = await command.run({ database: opened.database, peppers, positionals, values })
    process.stdout.write(render(result, values.json))
  } finally {
    await opened.close()
  }
}

function exitWith(code: number, text: string): never {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
  process.exit(code)
}

function parse(): { command: Command; positionals: string[]; values: Values } {
  try {
    const options = { customer: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } } as const
    const { positionals, values } = parseArgs({ options, allowPositionals: true })
    if (values.help) {
      process.stdout.write(usage())
      process.exit(0)
    }
    const [noun, verb, ...rest] = positionals
    const command = commands.find(({ name }) => name === `${noun} ${verb}`)
    if (!command) exitWith(2, `${noun ? `There is no command "${positionals.join(' ')}".\n\n` : ''}${usage()}`)
    const fault = command.check({ positionals: rest, values })
    if (fault) exitWith(2, `${command.name}: ${fault}\n\n${usage()}`)
    return { command, positionals: rest, values }
  } catch (error) {
    exitWith(2, `${(error as Error).message}\n\n${usage()}`)
  }
}

const { command, positionals, values } = parse()
try {
  await execute(command, positionals, values)
} catch (error) {
  exitWith(1, error instanceof ConfigFaults ? error.faults.join('\n') : (error as Error).message)
}
