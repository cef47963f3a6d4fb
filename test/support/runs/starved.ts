// Not part of `npm test`: test/run.test.ts runs it. Its event loop never yields, and uses no processor. Before, it writes its
// process id and the directory of the run.
import { writeSync } from 'node:fs'
import { tmpdir } from 'node:os'

writeSync(1, `starved: ${process.pid} ${tmpdir()}\n`)
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
