// `npm run -s credits -- <noun> <verb>`: the operator's commands. Works beside a running service and without one. Exit
// code 0: done; 1: refused, failed, or something is wrong with what was looked at; 2: not a command.
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { actionCommands } from './commands/action-commands.ts'
import { bookCommands } from './commands/book-commands.ts'
import type { Call, Command, Values, Words } from './commands/command.ts'
import { customerCommands } from './commands/customer-commands.ts'
import { eventCommands } from './commands/event-commands.ts'
import { keyCommands } from './commands/key-commands.ts'
import { orderCommands } from './commands/order-commands.ts'
import { render } from './commands/render.ts'
import { serviceCommands } from './commands/service-commands.ts'
import { recorded } from './commands/trail.ts'
import { ConfigFaults, readConfig } from './config.ts'
import { createCredits } from './credits/credits.ts'
import { readOrMakePepper } from './customers/pepper-file.ts'
import type { Database } from './db/database.ts'
import { openDatabase } from './db/open.ts'
import { createOutbound } from './events/outbound.ts'
import { openGateway } from './open-gateway.ts'
import { createPaymentContext } from './payments/context.ts'
import { createProgress, type Progress } from './progress.ts'
import { deliverySettings, outboundOptions, paymentSettings } from './settings.ts'

const commands: Command[] = [
  ...keyCommands,
  ...serviceCommands,
  ...customerCommands,
  ...orderCommands,
  ...bookCommands,
  ...eventCommands,
  ...actionCommands,
]

const options = {
  customer: { type: 'string' },
  name: { type: 'string' },
  url: { type: 'string' },
  types: { type: 'string' },
  kind: { type: 'string' },
  credits: { type: 'string' },
  endpoint: { type: 'string' },
  at: { type: 'string' },
  reason: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  limit: { type: 'string' },
  by: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const satisfies Record<keyof Values, { type: 'string' | 'boolean' }>

/** One line of text. */
const namePattern = /^[^\p{C}]{1,100}$/u

function usage(): string {
  const lines = commands.map(({ name, takes, does }) => `  ${`${name} ${takes}`.trimEnd()}\n      ${does}`)
  const by =
    'Those that change something take --by NAME: who does it, for the trail (actions list); else it is your user here.'
  return ['Usage: npm run -s credits -- <command> [--json]', '', ...lines, '', by, ''].join('\n')
}

async function execute(command: Command, words: Words): Promise<number> {
  const config = readConfig()
  const log = pino({ level: 'silent' })
  const parts = new AsyncDisposableStack()
  async function payments(database: Database) {
    const { gateway, close } = await openGateway(config, { use: 'command', log })
    parts.defer(close)
    const settings = paymentSettings(config)
    return createPaymentContext({ database, gateway, credits: createCredits(database), settings, log })
  }
  function deliveries(database: Database) {
    const outbound = createOutbound(outboundOptions(config))
    parts.defer(() => outbound.close())
    return { database, outbound, sealing: peppers(), settings: deliverySettings(config), log }
  }
  const peppers = () => config.keyPeppers ?? readOrMakePepper(config.dataDir)
  try {
    const { database, close } = await openDatabase({ ...config, use: 'command', log })
    parts.defer(close)
    const progress = showPhases()
    parts.defer(async () => progress.end())
    const call: Call = {
      ...words,
      database,
      peppers,
      payments: () => payments(database),
      deliveries: () => deliveries(database),
      onProgress: progress.show,
    }
    if (command.stream) await pipeline(command.stream(call), process.stdout, { end: false })
    // Shown before its end is on record: a secret that is shown once must not wait for it.
    async function run(): Promise<object | undefined> {
      const result = await command.run?.(call)
      progress.end()
      if (result) process.stdout.write(render(result, words.values.json))
      return result
    }
    const trail = { database, onUnwritten: (text: string) => process.stderr.write(`${text}\n`) }
    const result = await (command.changes ? recorded(trail, command, words, run) : run())
    return result && command.failed?.(result) ? 1 : 0
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

/** What a command takes is what it says it takes: an option that it would ignore is refused. */
function notTaken({ takes, changes }: Command, values: Values): string | undefined {
  const always = changes ? ['json', 'by'] : ['json']
  const names = Object.keys(values).filter((name) => !always.includes(name) && !takes.includes(`--${name} `))
  if (names.length > 0) return `--${names[0]} is not taken`
  return values.by === undefined || namePattern.test(values.by.trim()) ? undefined : '--by NAME has 1 to 100 characters'
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
    const fault = notTaken(command, values) ?? command.check(words)
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
