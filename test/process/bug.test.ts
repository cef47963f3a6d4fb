// A bug outside of any request: the process says so, stops as it would have been told to, and ends with 1, so that whoever
// watches it starts it again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertNothingRuns, launchService, usedDataDir, waitUntilReady } from '../../harness/processes.ts'

const bugs = {
  'an exception that nobody caught': 'throw new Error("a bug")',
  'a promise that nobody looked after': 'Promise.reject(new Error("a bug"))',
}

for (const [name, bug] of Object.entries(bugs)) {
  test(`${name} is logged and ends the process with 1, and nothing of it is left`, async (t) => {
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
