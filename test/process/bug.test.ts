// A bug outside of any request: the process logs it, stops as it does on SIGTERM, and exits with 1, so that a supervisor
// starts it again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertNothingRuns, launchService, usedDataDir, waitUntilReady } from '../../harness/processes.ts'

const bugs = {
  'an uncaught exception': 'throw new Error("a bug")',
  'an unhandled rejection': 'Promise.reject(new Error("a bug"))',
}

for (const [name, bug] of Object.entries(bugs)) {
  test(`${name} is logged and ends the process with exit code 1, and nothing is left running`, async (t) => {
    const dataDir = await usedDataDir(t)
    const script = `process.on('SIGUSR2', () => { ${bug} })`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(script)}`
    const { child, ended } = await waitUntilReady(() => launchService(t, dataDir, { NODE_OPTIONS }))
    child.kill('SIGUSR2')
    const { code, stdout } = await ended
    assert.equal(code, 1)
    assert.match(stdout, /"level":60.*"message":"a bug".*a bug outside of any request/)
    assertNothingRuns(dataDir)
  })
}
