// A short fault campaign on a database cluster: the primary is switched over and killed while customers buy, and nothing that
// was acknowledged is missing afterwards. A part of `npm run test:outer`; `npm run chaos -- --cluster patroni` has every kind of
// loss, for any duration.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProgramsMissing } from '../../harness/debian.ts'
import { renderReport, reportOfCampaign } from '../../proof/report/report.ts'
import { findPrograms } from '../../proof/stages/patroni/packages.ts'
import { runCampaign } from '../../proof/stages/processes/campaign.ts'

/** Why it cannot run here; empty where it can. */
function reasonToSkip(): string {
  try {
    findPrograms()
    return ''
  } catch (error) {
    if (error instanceof ProgramsMissing) return error.message
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
  assert.equal(report.verdict, 'PASSED', `${lines.join('\n')}\n${renderReport(reportOfCampaign(report))}`)
})
