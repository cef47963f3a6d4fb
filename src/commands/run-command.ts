// Runs one command: opens what it uses, asks for confirmation where it cannot be undone, writes the action log, shows the
// result, and closes everything again, whether it succeeds, fails or is interrupted.
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pino } from 'pino'
import {
  deliverySettings,
  gatewayOptions,
  invokedFrom,
  outboundOptions,
  paymentSettings,
  readConfig,
  readDatabaseConfig,
} from '../config.ts'
import { sleep } from '../core/clock.ts'
import { createTallies } from '../core/tallies.ts'
import { createCredits } from '../credits/credits.ts'
import type { Database } from '../db/database.ts'
import { openDatabase } from '../db/open.ts'
import { readOrMakePepper, readPepper } from '../dev/secrets.ts'
import { warningOfOtherData } from '../listeners/running-note.ts'
import { createCommandLog, recordAction } from '../operators/action-log.ts'
import { createPaymentContext } from '../payments/context.ts'
import { logSignerOf } from '../transparency/note.ts'
import { actionOf, subjectOf } from './action-log-entry.ts'
import {
  type Call,
  type Command,
  type CommandInput,
  type DatabaseCommand,
  isRecorded,
  type StandaloneCall,
  type StandaloneCommand,
} from './command.ts'
import { askToConfirm, isInteractive, type Terminal } from './line/confirmation.ts'
import { unlessInterrupted } from './line/interruption.ts'
import type { OutputFormat } from './line/layout.ts'
import { render } from './line/render.ts'
import { createStatus, type Status } from './line/status.ts'

const log = pino({ level: 'silent' })
/** How long an interrupted command waits for its connections to close: a statement may be waiting for a lock. */
const closeLimitMs = 5_000

type OutputStream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'hasColors'>

/** Colours and width are for terminals only; `hasColors` respects NO_COLOR. */
function formatFor(stream: OutputStream): OutputFormat {
  return stream.isTTY ? { columns: stream.columns, colour: stream.hasColors() } : {}
}

/** `onBegin` is called when the command may begin to change something. */
export type RunOptions = { signal: AbortSignal; onBegin(): void }

/** Returns the exit code. */
export async function runCommand(
  command: Command,
  input: CommandInput,
  { signal, onBegin }: RunOptions,
): Promise<number> {
  const parts = new AsyncDisposableStack()
  try {
    const status = createStatus(input.values.json === true)
    parts.defer(async () => status.end())
    const printLine = (line: string) => process.stderr.write(`${line}\n`)
    let isWarned = false
    const standalone: StandaloneCall = {
      ...input,
      get databaseOptions() {
        const config = readDatabaseConfig()
        const warning = isWarned ? undefined : warningOfOtherData(config)
        if (warning) printLine(input.values.json ? JSON.stringify({ warning }) : `Warning: ${warning}`)
        isWarned = true
        return { ...config, log, onWait: printLine, watch: status.watch }
      },
      knownPeppers: () => {
        const { keyPeppers, dataDir } = readConfig()
        return keyPeppers ?? readPepper(dataDir)
      },
      logName: () => readConfig().transparencyLog,
      resolvePath: (typed) => resolve(invokedFrom(), typed),
      onProgress: status.show,
      print: printLine,
      signal,
    }
    const begin = () => {
      onBegin()
      status.begin()
    }
    const run = { input, signal, onBegin: begin, status }
    return await (command.runStandalone
      ? runStandaloneCommand(command, standalone, run)
      : runDatabaseCommand(command, standalone, run, parts))
  } finally {
    await Promise.race([parts.disposeAsync(), signal.aborted ? sleep(closeLimitMs) : new Promise(() => undefined)])
  }
}

type Run = RunOptions & { input: CommandInput; status: Status }

function show(result: object | string | undefined, { input, status }: Run): void {
  status.end()
  if (typeof result === 'string') process.stdout.write(result)
  else if (result) process.stdout.write(render(result, { ...formatFor(process.stdout), json: input.values.json }))
}

/** Not confirmed: an operator was asked and has declined. `shown` is the preview of the question, if there was one. */
async function askIfNeeded<C>(
  confirm: ((call: C) => ReturnType<NonNullable<Command['confirm']>>) | undefined,
  call: C,
  { input, signal }: Run,
): Promise<{ isConfirmed: boolean; shown?: object | undefined }> {
  const terminal: Terminal = { input: process.stdin, output: process.stderr, format: formatFor(process.stderr) }
  if (!confirm || !isInteractive(terminal, input.values)) return { isConfirmed: true }
  const confirmation = await unlessInterrupted(signal, confirm(call))
  const isConfirmed = confirmation === undefined || (await askToConfirm(terminal, confirmation, signal))
  signal.throwIfAborted()
  if (!isConfirmed) process.stderr.write('Nothing was changed.\n')
  return { isConfirmed, shown: confirmation?.preview }
}

async function runStandaloneCommand(command: StandaloneCommand, call: StandaloneCall, run: Run): Promise<number> {
  if (!(await askIfNeeded(command.confirm, call, run)).isConfirmed) return 1
  const { signal } = run
  run.onBegin()
  const work = command.runStandalone(call)
  // The command closes what it has opened.
  const ended = () => Promise.race([work.catch(() => undefined), sleep(closeLimitMs)])
  const result = await unlessInterrupted(signal, work).catch(async (error) => {
    if (signal.aborted) await ended()
    throw error
  })
  show(result, run)
  return typeof result === 'object' ? exitCodeOf(command, result) : 0
}

async function runDatabaseCommand(
  command: DatabaseCommand,
  standalone: StandaloneCall,
  run: Run,
  parts: AsyncDisposableStack,
): Promise<number> {
  const { input, signal } = run
  const opened = await openCall(standalone, parts)
  const call: Call = { ...opened, subject: command.findSubject ? await command.findSubject(opened) : subjectOf(input) }
  signal.throwIfAborted()
  const { isConfirmed, shown } = await askIfNeeded(command.confirm, call, run)
  if (!isConfirmed) return 1
  run.onBegin()
  // Shown before the end is logged: a secret that is printed once must not be lost if that fails.
  async function runAndShow(): Promise<object | undefined> {
    if (command.stream) await pipeline(run.status.counted(command.stream(call)), process.stdout, { end: false, signal })
    const result = command.run && (await unlessInterrupted(signal, command.run(call, shown)))
    show(result, run)
    return result
  }
  const actionLog = createCommandLog(call.database, call)
  const action = actionOf(command, input, call.subject)
  const result = await (isRecorded(command) ? recordAction(actionLog, action, runAndShow, command) : runAndShow())
  return result ? exitCodeOf(command, result) : 0
}

function exitCodeOf(command: Command, result: object): number {
  if (command.undecided?.(result)) return 3
  return command.failed?.(result) ? 1 : 0
}

async function openCall(standalone: StandaloneCall, parts: AsyncDisposableStack): Promise<Omit<Call, 'subject'>> {
  const config = readConfig()
  const peppers = () => config.keyPeppers ?? readOrMakePepper(config.dataDir)
  // Loaded on demand: together more than half of all modules, and most commands make no calls to the outside.
  const gatewayModule = () => import('../gateway/toss/open.ts')
  const sandboxModule = () => import('../dev/sandbox.ts')
  const outboundModule = () => import('../events/outbound.ts')
  // A command has no /metrics.
  const tallies = createTallies()
  async function payments(database: Database) {
    const { openGateway } = await gatewayModule()
    const sandbox =
      config.gateway.kind === 'sandbox' ? await (await sandboxModule()).openCommandSandbox(config) : undefined
    parts.defer(async () => sandbox?.close())
    const { gateway } = openGateway(gatewayOptions(config, sandbox?.url), log)
    parts.defer(() => gateway.close())
    const settings = paymentSettings(config)
    const credits = createCredits(database, tallies)
    return createPaymentContext({ database, gateway, credits, settings, log, tallies })
  }
  async function deliveries(database: Database) {
    const { createOutbound } = await outboundModule()
    const outbound = createOutbound(outboundOptions(config))
    parts.defer(() => outbound.close())
    return { database, outbound, sealing: peppers(), settings: deliverySettings(config), log, tallies }
  }
  const { database, close } = await openDatabase({ ...standalone.databaseOptions, use: 'command' })
  parts.defer(close)
  let opened: ReturnType<typeof payments> | undefined
  return {
    ...standalone,
    database,
    peppers,
    adjustments: config.adjustments,
    firstPasswordHours: config.firstPasswordHours,
    signer: () => logSignerOf(peppers(), config.transparencyLog),
    // Once: the question and the answer to it speak to the same gateway.
    payments: () => {
      opened ??= payments(database)
      return opened
    },
    deliveries: () => deliveries(database),
  }
}
