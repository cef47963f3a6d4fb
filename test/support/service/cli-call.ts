// The command line called in this process, from the words to the exit code: `src/cli.ts` itself, with its own arguments,
// environment and streams. It saves the half second that a process takes to load what is loaded here already. Signals,
// pipes and what is left running are for tests that start a real one.
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Cleaner, type Ended, type Environment, type runCommand, settingsFor } from '../../../harness/processes.ts'
import { assertSaidNoSecret } from '../leaks.ts'

const cli = new URL('../../../src/cli.ts', import.meta.url).href
const signals = ['SIGINT', 'SIGTERM'] as const
let calls = 0
let last: Promise<unknown> = Promise.resolve()

/** One after the other, since what they replace is the whole process's. Takes what `runCommand` takes. */
export const callCli: typeof runCommand = (
  _t: Cleaner,
  dataDir: string,
  args: string[],
  settings: Environment = {},
) => {
  const called = last.then(() => call(args, settingsFor(dataDir, settings)))
  last = called.catch(() => undefined)
  return called
}

async function call(args: string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  const said = { stdout: text(streams.stdout), stderr: text(streams.stderr) }
  using replaced = new DisposableStack()
  replaceProperty(replaced, 'argv', [process.execPath, 'src/cli.ts', ...args])
  replaceProperty(replaced, 'env', env)
  for (const name of ['stdout', 'stderr'] as const) replaceProperty(replaced, name, streams[name])
  for (const signal of signals) {
    const before = process.listeners(signal)
    replaced.defer(() => {
      for (const each of process.listeners(signal)) if (!before.includes(each)) process.removeListener(signal, each)
    })
  }
  const { exitCode } = process
  replaced.defer(() => {
    process.exitCode = exitCode
  })
  calls += 1
  // A module of its own for each call: all that it imports is shared.
  await import(`${cli}?call=${calls}`)
  const code = Number(process.exitCode)
  for (const stream of Object.values(streams)) stream.end()
  const ended = { code, signal: null, stdout: await said.stdout, stderr: await said.stderr }
  assertSaidNoSecret(ended, args, env)
  return ended
}

function replaceProperty(stack: DisposableStack, name: keyof NodeJS.Process, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor
  Object.defineProperty(process, name, { value, writable: true, configurable: true, enumerable: true })
  stack.defer(() => Object.defineProperty(process, name, before))
}
