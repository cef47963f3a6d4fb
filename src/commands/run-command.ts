// Runs one command of the operator: opens what it asks for, asks before what cannot be taken back, keeps the trail, shows
// the result, and closes everything again however it ends.
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pino } from 'pino'
import {
  deliverySettings,
  invokedFrom,
  outboundOptions,
  paymentSettings,
  readConfig,
  readDatabaseConfig,
} from '../config.ts'
import { sleep } from '../core/clock.ts'
import { createTallies } from '../core/tallies.ts'
import { createCredits } from '../credits/credits.ts'
import { readOrMakePepper, readPepper } from '../customers/pepper-file.ts'
import type { Database } from '../db/database.ts'
import { openDatabase } from '../db/open.ts'
import { recordAction } from '../operators/action-log.ts'
import { createPaymentContext } from '../payments/context.ts'
import { actionOf, subjectOf } from './action.ts'
import type { BareCall, BareCommand, Call, Command, DatabaseCommand, Words } from './command.ts'
import { ask, isAsked, type Terminal } from './line/ask-first.ts'
import { unlessInterrupted } from './line/interruption.ts'
import type { Look } from './line/layout.ts'
import { createProgress, type Progress } from './line/progress.ts'
import { render } from './line/render.ts'

const log = pino({ level: 'silent' })
/** For what was interrupted: a statement that waits for a lock does not keep the person waiting. */
const closeLimitMs = 5_000

type Shown = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'hasColors'>

/** Colours and width only where there is a terminal; Node knows NO_COLOR. */
function lookOf(stream: Shown): Look {
  return stream.isTTY ? { columns: stream.columns, colour: stream.hasColors() } : {}
}

/** Aborted by the signal, and told when the work itself begins. */
export type Watched = { signal: AbortSignal; onBegin(): void }

/** The exit code. */
export async function runCommand(command: Command, words: Words, { signal, onBegin }: Watched): Promise<number> {
  const parts = new AsyncDisposableStack()
  try {
    const progress = showPhases(words.values.json === true && !process.stderr.isTTY)
    parts.defer(async () => progress.end())
    const bare: BareCall = {
      ...words,
      get place() {
        return { ...readDatabaseConfig(), log }
      },
      knownPeppers: () => {
        const { keyPeppers, dataDir } = readConfig()
        return keyPeppers ?? readPepper(dataDir)
      },
      pathOf: (typed) => resolve(invokedFrom(), typed),
      onProgress: progress.show,
      signal,
    }
    const showing = { words, signal, onBegin, endProgress: progress.end }
    return await (command.alone ? runAlone(command, bare, showing) : runWith(command, bare, showing, parts))
  } finally {
    await Promise.race([parts.disposeAsync(), signal.aborted ? sleep(closeLimitMs) : new Promise(() => undefined)])
  }
}

type Showing = Watched & { words: Words; endProgress(): void }

function show(result: object | string | undefined, { words, endProgress }: Showing): void {
  endProgress()
  if (typeof result === 'string') process.stdout.write(result)
  else if (result) process.stdout.write(render(result, { ...lookOf(process.stdout), json: words.values.json }))
}

/** Whether to go on: everybody but a person who says no. */
async function isWanted<C>(
  confirm: ((call: C) => ReturnType<NonNullable<Command['confirm']>>) | undefined,
  call: C,
  { words, signal }: Showing,
): Promise<boolean> {
  const terminal: Terminal = { input: process.stdin, output: process.stderr, look: lookOf(process.stderr) }
  if (!confirm || !isAsked(terminal, words.values)) return true
  const confirmation = await unlessInterrupted(signal, confirm(call))
  const goesOn = confirmation === undefined || (await ask(terminal, confirmation, signal))
  signal.throwIfAborted()
  if (!goesOn) process.stderr.write('Nothing was changed.\n')
  return goesOn
}

async function runAlone(command: BareCommand, call: BareCall, showing: Showing): Promise<number> {
  if (!(await isWanted(command.confirm, call, showing))) return 1
  const { signal } = showing
  showing.onBegin()
  const work = command.alone(call)
  // It has opened everything itself, and closes it itself.
  const ended = () => Promise.race([work.catch(() => undefined), sleep(closeLimitMs)])
  const result = await unlessInterrupted(signal, work).catch(async (error) => {
    if (signal.aborted) await ended()
    throw error
  })
  show(result, showing)
  return typeof result === 'object' && command.failed?.(result) ? 1 : 0
}

async function runWith(
  command: DatabaseCommand,
  bare: BareCall,
  showing: Showing,
  parts: AsyncDisposableStack,
): Promise<number> {
  const { words, signal } = showing
  const opened = await openCall(bare, parts)
  const call: Call = { ...opened, subject: command.about ? await command.about(opened) : subjectOf(words) }
  signal.throwIfAborted()
  if (!(await isWanted(command.confirm, call, showing))) return 1
  showing.onBegin()
  if (command.stream) await pipeline(command.stream(call), process.stdout, { end: false, signal })
  // Shown before its end is on record: a secret that is shown once must not wait for it.
  async function run(): Promise<object | undefined> {
    const result = command.run && (await unlessInterrupted(signal, command.run(call)))
    show(result, showing)
    return result
  }
  const trail = { database: call.database, onUnwritten: (text: string) => process.stderr.write(`${text}\n`) }
  const action = actionOf(command, words, call.subject)
  const result = await (command.changes ? recordAction(trail, action, run, command.failed) : run())
  return result && command.failed?.(result) ? 1 : 0
}

async function openCall(bare: BareCall, parts: AsyncDisposableStack): Promise<Omit<Call, 'subject'>> {
  const config = readConfig()
  const peppers = () => config.keyPeppers ?? readOrMakePepper(config.dataDir)
  // Loaded by who asks: together more than half of all there is to load, and most commands speak to nobody outside.
  const gatewayModule = () => import('../dev/open-gateway.ts')
  const outboundModule = () => import('../events/outbound.ts')
  // Nobody scrapes a command.
  const tallies = createTallies()
  async function payments(database: Database) {
    const { openGateway } = await gatewayModule()
    const { gateway, close } = await openGateway(config, { use: 'command', log })
    parts.defer(close)
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
  const { database, close } = await openDatabase({ ...bare.place, use: 'command' })
  parts.defer(close)
  let opened: ReturnType<typeof payments> | undefined
  return {
    ...bare,
    database,
    peppers,
    // Once: the question and the answer to it speak to the same gateway.
    payments: () => {
      opened ??= payments(database)
      return opened
    },
    deliveries: () => deliveries(database),
  }
}

/** A bar for each phase of a long run. */
function showPhases(isSilent: boolean) {
  let phase: string | undefined
  let bar: Progress | undefined
  return {
    show(name: string, done: number, total: number): void {
      if (isSilent) return
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
