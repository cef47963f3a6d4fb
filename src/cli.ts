// `npm run -s credits -- <noun> <verb>`: the operator's commands. Works beside a running service and without one. Exit
// code 0: done; 1: refused, failed, or something is wrong with what was looked at; 2: not a command.
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { bookCommands } from './commands/book-commands.ts'
import type { Call, Command, Values, Words } from './commands/command.ts'
import { keyCommands } from './commands/key-commands.ts'
import { orderCommands } from './commands/order-commands.ts'
import { render } from './commands/render.ts'
import { ConfigFaults, readConfig } from './config.ts'
import { createLedger } from './credits/ledger.ts'
import { readOrMakePepper } from './customers/pepper-file.ts'
import type { Database } from './db/database.ts'
import { openDatabase } from './db/open.ts'
import { openGateway } from './open-gateway.ts'
import { paymentSettings } from './payment-settings.ts'
import { createPaymentContext } from './payments/context.ts'
import { createProgress, type Progress } from './progress.ts'

const commands: Command[] = [...keyCommands, ...orderCommands, ...bookCommands]

const options = {
  customer: { type: 'string' },
  reason: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const satisfies Record<keyof Values, { type: 'string' | 'boolean' }>

function usage(): string {
  const lines = commands.map(({ name, takes, does }) => `  ${`${name} ${takes}`.padEnd(36)} ${does}`)
  return ['Usage: npm run -s credits -- <command> [--json]', '', ...lines, ''].join('\n')
}

async function execute(command: Command, words: Words): Promise<number> {
  const config = readConfig()
  const log = pino({ level: 'silent' })
  const parts = new AsyncDisposableStack()
  async function payments(database: Database) {
    const { gateway, close } = await openGateway(config, { use: 'command', log })
    parts.defer(close)
    const settings = paymentSettings(config)
    return createPaymentContext({ database, gateway, ledger: createLedger(database), settings, log })
  }
  try {
    const { database, close } = await openDatabase({ ...config, use: 'command', log })
    parts.defer(close)
    const progress = showPhases()
    parts.defer(async () => progress.end())
    const call: Call = {
      ...words,
      database,
      peppers: () => config.keyPeppers ?? readOrMakePepper(config.dataDir),
      payments: () => payments(database),
      onProgress: progress.show,
    }
    const result = await command.run(call)
    progress.end()
    process.stdout.write(render(result, words.values.json))
    return command.failed?.(result) ? 1 : 0
  } finally {
    await parts.disposeAsync()
  }
}

/** A bar for each phase of a long run. */
function showPhases() {
  let phase: string | undefined
  let bar: Progress | undefined
  return {
    show(name: string, done: number, total: number): void {
      if (name !== phase) {
        bar?.end()
        bar = createProgress(name)
      }
      phase = name
      bar?.update(done, total)
    },
    end: () => bar?.end(),
  }
}

function exitWith(code: number, text: string): never {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
  process.exit(code)
}

function parse(): { command: Command; words: Words } {
  try {
    const { positionals, values } = parseArgs({ options, allowPositionals: true })
    if (values.help) {
      process.stdout.write(usage())
      process.exit(0)
    }
    // Most are a noun and a verb, some a verb alone.
    const command = commands.find(({ name }) => `${positionals.join(' ')} `.startsWith(`${name} `))
    if (!command)
      exitWith(2, `${positionals[0] ? `There is no command "${positionals.join(' ')}".\n\n` : ''}${usage()}`)
    const words = { positionals: positionals.slice(command.name.split(' ').length), values }
    const fault = command.check(words)
    if (fault) exitWith(2, `${command.name}: ${fault}\n\n${usage()}`)
    return { command, words }
  } catch (error) {
    exitWith(2, `${(error as Error).message}\n\n${usage()}`)
  }
}

const { command, words } = parse()
try {
  process.exitCode = await execute(command, words)
} catch (error) {
  exitWith(1, error instanceof ConfigFaults ? error.faults.join('\n') : (error as Error).message)
}
