// The command line called in this process, from the arguments to the exit code: `src/cli.ts` itself, with its own arguments,
// environment and streams. It saves the half second that a new process takes to load its modules. Signals, pipes and open
// handles are left to tests that start a real process.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  type Cleaner,
  type EndedCommand,
  type Environment,
  type runCommand,
  settingsFor,
  splitStatus,
} from '../../../harness/processes.ts'
import { assertNoSecretPrinted } from '../leaks.ts'

const cli = new URL('../../../src/cli.ts', import.meta.url).href
const signals = ['SIGINT', 'SIGTERM'] as const
let calls = 0
let last: Promise<unknown> = Promise.resolve()

/** Calls run one after the other, because they replace state of the whole process. Takes the arguments of `runCommand`. */
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

async function call(args: string[], env: NodeJS.ProcessEnv): Promise<EndedCommand> {
  assert.equal(env.TZ, undefined, 'the time zone is the one of the process: start one')
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
  // Each call loads the module anew; its imports are shared.
  await import(`${cli}?call=${calls}`)
  const code = Number(process.exitCode)
  for (const stream of Object.values(streams)) stream.end()
  const ended = { code, signal: null, stdout: await said.stdout, ...splitStatus(await said.stderr) }
  assertNoSecretPrinted(ended, args, env)
  return ended
}

function replaceProperty(stack: DisposableStack, name: keyof NodeJS.Process, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor
  Object.defineProperty(process, name, { value, writable: true, configurable: true, enumerable: true })
  stack.defer(() => Object.defineProperty(process, name, before))
}
