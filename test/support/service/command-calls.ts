// A command of the operator called as the command line calls it, without a process: what is wrong with the words is
// thrown, and the command gets the parts that a test has.
import assert from 'node:assert/strict'
import type { Call, Command, Words } from '../../../src/commands/command.ts'
import { faultIn } from '../../../src/commands/line/parse.ts'

/** Whatever a test does not give is not to be asked for. */
export async function callCommand<Result>(
  commands: readonly Command[],
  name: string,
  words: Partial<Words>,
  parts: Partial<Call>,
): Promise<Result> {
  const command = commands.find((each) => each.name === name) ?? assert.fail(`there is no command ${name}`)
  const { positionals = [], values = {} } = words
  const fault = faultIn(command, { positionals, values })
  if (fault) throw new Error(fault)
  const onProgress = () => undefined
  const call = { onProgress, signal: new AbortController().signal, ...parts, positionals, values } as Call
  if (command.stream) return (await Array.fromAsync(command.stream(call))).join('') as Result
  return (await command.run?.(call)) as Result
}
