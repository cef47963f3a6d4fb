// Not part of `npm test`: test/run.test.ts runs it. Its test passes, and its server stays open.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'

test('a server is opened', async () => {
  await once(createServer().listen(0, '127.0.0.1'), 'listening')
})
