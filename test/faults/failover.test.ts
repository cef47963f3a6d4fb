// A short fault campaign on a database cluster: the primary is switched over and killed while customers buy, and nothing that
// was acknowledged is missing afterwards. `npm run chaos -- --cluster patroni` has every kind of loss, for any duration.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCampaign } from '../../chaos/campaign.ts'
import { ClusterUnavailable, findPrograms, isSafe } from '../../chaos/cluster/packages.ts'
import { renderReport } from '../../chaos/report.ts'

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
