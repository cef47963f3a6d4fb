// A short fault campaign on a database cluster: the primary is switched over and killed while customers buy, and nothing that
// was acknowledged is missing afterwards. `npm run chaos -- --cluster patroni` has every kind of loss, for any duration.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { runCampaign } from '../../chaos/campaign.ts'
import { ClusterUnavailable, findPrograms, isSafe } from '../../chaos/cluster/packages.ts'
import { renderReport } from '../../chaos/report.ts'
import { openLink } from '../../harness/link.ts'
import { until } from '../../harness/until.ts'

/** Why it cannot run here; empty where it can. */
function reasonToSkip(): string {
  try {
    findPrograms()
    return ''
  } catch (error) {
    if (error instanceof ClusterUnavailable) return error.message
    throw error
  }
}

test('a database that loses its primary loses no answer', async (t) => {
  const skipped = reasonToSkip()
  if (skipped) return t.skip(skipped)
  const lines: string[] = []
  const report = await runCampaign({
    seed: 7,
    minutes: 0.6,
    // Other tests run at the same time.
    clients: 4,
    // Those that take no longer than a few seconds.
    database: {
      kind: 'patroni',
      kinds: ['primary switched over', 'PostgreSQL of the primary killed', 'waiting commits cancelled'],
    },
    keep: false,
    logLine: (line) => lines.push(line),
    stopped: t.signal,
  })
  assert.equal(report.verdict, 'PASSED', `${lines.join('\n')}\n${renderReport(report)}`)
})

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
