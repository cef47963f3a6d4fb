// Calls a command in this process, as the command line does: a fault in its input is thrown, and the command gets the parts
// that the test provides.
import assert from 'node:assert/strict'
import type { Call, Command, CommandInput } from '../../../src/commands/command.ts'
import { faultIn } from '../../../src/commands/line/parse.ts'

/** The command must not use a part that is missing in `parts`. */
export async function callCommand<Result>(
  commands: readonly Command[],
  name: string,
  input: Partial<CommandInput>,
  parts: Partial<Call>,
): Promise<Result> {
  const command = commands.find((each) => each.name === name) ?? assert.fail(`there is no command ${name}`)
  const { positionals = [], values = {} } = input
  const fault = faultIn(command, { positionals, values })
  if (fault) throw new Error(fault)
  const onProgress = () => undefined
  const call = { onProgress, signal: new AbortController().signal, ...parts, positionals, values } as Call
  if (command.stream) return (await Array.fromAsync(command.stream(call))).join('') as Result
  return (await command.run?.(call)) as Result
}
