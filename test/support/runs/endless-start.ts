// Not part of `npm test`: test/run.test.ts runs it. Its tests never begin, and a timer keeps the process alive.
import { test } from 'node:test'

setInterval(() => undefined, 1_000)
await new Promise(() => undefined)
test('never', () => undefined)
