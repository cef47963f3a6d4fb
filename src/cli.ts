// `npm run -s credits -- <noun> <verb>`: the operator's commands. Works beside a running service and without one. Exit
// code 0: done; 1: refused, failed, or something is wrong with what was looked at; 2: not a command; 130: interrupted.
// stdout has the result and nothing else. With --json an error is a JSON document too, on stderr.
import { setImmediate } from 'node:timers/promises'
import type { Command } from './commands/command.ts'
import { commandGroups, commands } from './commands/command-table.ts'
import { commandHelp, nounHelp, overview, program, synopsis } from './commands/line/help.ts'
import { Interrupted, watchInterrupts } from './commands/line/interruption.ts'
import { asksForJson, type Parsed, parse } from './commands/line/parse.ts'
import { runCommand } from './commands/run-command.ts'
import { ConfigFaults } from './config.ts'
import { withoutSecrets } from './operators/action-log.ts'

const args = process.argv.slice(2)

function helpText(about: Command | string | undefined, { columns }: { columns?: number }): string {
  if (typeof about === 'object') return commandHelp(about, columns)
  const options = { groups: commandGroups, columns }
  return about === undefined ? overview(options) : nounHelp(about, options)
}

/** What was wrong, and where to read on. */
function faultText({ text, command, noun }: Parsed & { kind: 'fault' }): string {
  if (command) return `${command.name}: ${text}\n\nUsage: ${synopsis(command)}\nMore: ${program} help ${command.name}`
  return `${text}\n\nMore: ${program} help${noun ? ` ${noun}` : ''}`
}

/** Somebody may have taken a key for an id, and what is said here is kept in logs of others. */
function fail(exitCode: number, error: string, text = error): number {
  const told = asksForJson(args) ? JSON.stringify({ error, exitCode }) : text.trimEnd()
  process.stderr.write(`${withoutSecrets(told)}\n`)
  return exitCode
}

function messageOf(error: unknown): string {
  if (error instanceof ConfigFaults) return error.faults.join('\n')
  return error instanceof Error ? error.message : String(error)
}

const leftOfChange = 'What it has done stays done; what it has begun at the gateway, the worker finishes.'

async function call({ command, words }: Parsed & { kind: 'call' }): Promise<number> {
  const signal = watchInterrupts()
  let left = 'Nothing was changed.'
  function onBegin(): void {
    left = command.interrupted ?? (command.changes ? leftOfChange : 'It changes nothing.')
  }
  try {
    const exitCode = await runCommand(command, words, { signal, onBegin })
    // That nobody reads what was written is known a turn later.
    await setImmediate()
    return signal.reason instanceof Interrupted ? signal.reason.exitCode : exitCode
  } catch (error) {
    const { reason } = signal
    if (!(reason instanceof Interrupted)) return fail(1, messageOf(error))
    return reason.isSeen ? fail(reason.exitCode, `Interrupted. ${left}`) : reason.exitCode
  }
}

async function main(): Promise<number> {
  const parsed = parse(commands, args)
  switch (parsed.kind) {
    case 'help':
      process.stdout.write(helpText(parsed.about, process.stdout))
      return 0
    case 'nothing':
      return fail(2, 'There is no command.', helpText(parsed.noun, process.stderr))
    case 'fault':
      return fail(2, parsed.command ? `${parsed.command.name}: ${parsed.text}` : parsed.text, faultText(parsed))
    case 'call':
      return call(parsed)
  }
}

const exitCode = await main()
// Of what was interrupted something may still be under way: nobody waits for it.
if (exitCode > 2) process.exit(exitCode)
process.exitCode = exitCode
