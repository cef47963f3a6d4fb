// `npm run -s credits -- <noun> <verb>`: the operator's commands, with or without a running service. Exit code 0: done;
// 1: refused, failed, or a check found something wrong; 2: invalid command line; 130: interrupted. stdout has only the
// result. With --json an error is a JSON document too, on stderr.
import { setImmediate } from 'node:timers/promises'
import type { Command } from './commands/command.ts'
import { commandGroups, commands } from './commands/command-table.ts'
import { commandHelp, nounHelp, overview, program, synopsis } from './commands/line/help.ts'
import { Interrupted, watchInterrupts } from './commands/line/interruption.ts'
import { type Parsed, parse, wantsJson } from './commands/line/parse.ts'
import { runCommand } from './commands/run-command.ts'
import { ConfigFaults } from './config.ts'
import { readVersion } from './core/version.ts'
import { withoutSecrets } from './operators/action-log.ts'

const args = process.argv.slice(2)

function helpText(topic: Command | string | undefined, { columns }: { columns?: number }): string {
  if (typeof topic === 'object') return commandHelp(topic, columns)
  const options = { groups: commandGroups, columns }
  return topic === undefined ? overview(options) : nounHelp(topic, options)
}

function faultText({ text, command, noun }: Parsed & { kind: 'fault' }): string {
  if (command) return `${command.name}: ${text}\n\nUsage: ${synopsis(command)}\nMore: ${program} help ${command.name}`
  return `${text}\n\nMore: ${program} help${noun ? ` ${noun}` : ''}`
}

/** Without secrets: a key may have been typed in place of an id, and other programs log what is written here. */
function fail(exitCode: number, error: string, text = error): number {
  const message = wantsJson(args) ? JSON.stringify({ error, exitCode }) : text.trimEnd()
  process.stderr.write(`${withoutSecrets(message)}\n`)
  return exitCode
}

function messageOf(error: unknown): string {
  if (error instanceof ConfigFaults) return error.faults.join('\n')
  return error instanceof Error ? error.message : String(error)
}

const afterInterruptedChange = 'Finished changes remain; the worker completes operations begun at the gateway.'

async function call({ command, input }: Parsed & { kind: 'call' }): Promise<number> {
  const signal = watchInterrupts()
  let state = 'Nothing was changed.'
  function onBegin(): void {
    if (command.afterInterrupt) state = command.afterInterrupt
    else if (command.changesData) state = afterInterruptedChange
  }
  try {
    const exitCode = await runCommand(command, input, { signal, onBegin })
    // The error of a closed pipe is emitted on the next tick of the event loop.
    await setImmediate()
    return signal.reason instanceof Interrupted ? signal.reason.exitCode : exitCode
  } catch (error) {
    const { reason } = signal
    if (!(reason instanceof Interrupted)) return fail(1, messageOf(error))
    return reason.isReported ? fail(reason.exitCode, `Interrupted. ${state}`) : reason.exitCode
  }
}

async function main(): Promise<number> {
  const parsed = parse(commands, args)
  switch (parsed.kind) {
    case 'help':
      process.stdout.write(helpText(parsed.topic, process.stdout))
      return 0
    case 'version':
      process.stdout.write(`${wantsJson(args) ? JSON.stringify({ version: readVersion() }) : readVersion()}\n`)
      return 0
    case 'incomplete':
      return fail(2, 'No command was given.', helpText(parsed.noun, process.stderr))
    case 'fault':
      return fail(2, parsed.command ? `${parsed.command.name}: ${parsed.text}` : parsed.text, faultText(parsed))
    case 'call':
      return call(parsed)
  }
}

const exitCode = await main()
// After an interrupt do not wait for work that is still running.
if (exitCode > 128) process.exit(exitCode)
process.exitCode = exitCode
