// The confirmation before a command that cannot be undone, or is probably a mistake. A script could not answer and is not asked.
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Confirmation, Values } from '../command.ts'
import type { OutputFormat } from './layout.ts'
import { render } from './render.ts'

export type Terminal = {
  input: Readable & { isTTY?: boolean }
  /** stderr: stdout is for the result. */
  output: Writable & { isTTY?: boolean }
  format: OutputFormat
}

/** Only on a terminal, and not with --yes or --json. */
export function isInteractive({ input, output }: Terminal, { yes, json }: Values): boolean {
  return input.isTTY === true && output.isTTY === true && !yes && !json
}

/** True for y and yes only: Enter and the end of the input mean no. */
export async function askToConfirm(
  terminal: Terminal,
  { preview, question }: Confirmation,
  signal: AbortSignal,
): Promise<boolean> {
  terminal.output.write(`${render(preview, terminal.format)}\n${question} [y/N] `)
  const answer = await readLine(terminal, signal)
  // At the end of the input the cursor is still behind the question.
  if (answer === undefined) terminal.output.write('\n')
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}

/** Undefined at the end of the input, or after an interrupt. */
function readLine({ input }: Terminal, signal: AbortSignal): Promise<string | undefined> {
  // Without `output` readline leaves the terminal's mode alone: it echoes, and Ctrl-C sends a signal.
  const lines = createInterface({ input, signal })
  return new Promise((resolve) => {
    lines.once('close', () => resolve(undefined))
    lines.once('line', (line) => {
      resolve(line)
      lines.close()
    })
  })
}
