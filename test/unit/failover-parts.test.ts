// The parts of the failover campaign that can be tested without a cluster: which Patroni is used, and the links between nodes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { openLink } from '../../harness/link.ts'
import { until } from '../../harness/until.ts'
import { isSafe } from '../../proof/stages/patroni/packages.ts'

test('Patroni before 3.0.3 is not used: it loses commits when its leader is frozen', () => {
  for (const version of ['3.0.3', '3.0.10', '3.1.0', '4.0.7', '10.0']) assert.equal(isSafe(version), true, version)
  for (const version of ['3.0.2', '2.9.9', '3.0', '']) assert.equal(isSafe(version), false, version)
})

test('what waits in a link that is cut arrives after it is mended, and is lost when the sender was killed', async (t) => {
  const pieces: string[] = []
  const received = () => pieces.join('')
  const server = createServer((socket) => socket.on('data', (bytes) => pieces.push(`${bytes}`))).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const link = await openLink(0, { port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  t.after(() => link.close())
  const sender = connect(link.port, '127.0.0.1')
  sender.write('one ')
  await until('it passes', () => received() === 'one ')
  link.cut()
  sender.write('two ')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(received(), 'one ')
  link.mend()
  await until('it goes on', () => received() === 'one two ')
  link.cut()
  sender.end('three ')
  await new Promise((resolve) => setTimeout(resolve, 50))
  link.reset()
  const next = connect(link.port, '127.0.0.1')
  next.end('four ')
  await until('the next one passes', () => received().endsWith('four '))
  assert.equal(received(), 'one two four ')
})
