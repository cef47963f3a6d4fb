// Before what cannot be taken back a person is shown what will happen, and asked. Scripts are not: nobody would answer.
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Confirmation, Values } from '../command.ts'
import type { Look } from './layout.ts'
import { render } from './render.ts'

export type Terminal = {
  input: Readable & { isTTY?: boolean }
  /** Where people are spoken to; the result goes elsewhere. */
  output: Writable & { isTTY?: boolean }
  look: Look
}

/** Whether there is a person to ask, and who has not answered beforehand. */
export function isAsked({ input, output }: Terminal, { yes, json }: Values): boolean {
  return input.isTTY === true && output.isTTY === true && !yes && !json
}

/** Whether to go on. Only y and yes do; so Enter, and an end of the input, change nothing. */
export async function ask(terminal: Terminal, { will, question }: Confirmation, signal: AbortSignal): Promise<boolean> {
  terminal.output.write(`${render(will, terminal.look)}\n${question} [y/N] `)
  const answer = await readLine(terminal, signal)
  // The end of the input has left the cursor behind the question.
  if (answer === undefined) terminal.output.write('\n')
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}

/** Undefined when the input ends, or the person interrupts. */
function readLine({ input }: Terminal, signal: AbortSignal): Promise<string | undefined> {
  // Without `output` the terminal stays as it is: it echoes, and Ctrl-C is a signal.
  const lines = createInterface({ input, signal })
  return new Promise((resolve) => {
    lines.once('close', () => resolve(undefined))
    lines.once('line', (line) => {
      resolve(line)
      lines.close()
    })
  })
}
