// A short fault campaign (proof/stages/processes) as a part of every run of the tests: real processes, killed, paused and cut
// off while customers buy. It shows that the parts work together; `npm run chaos` runs for any duration.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareEnvironment, launch, repository } from '../../harness/processes.ts'
import { renderReport, reportOfCampaign } from '../../proof/report/report.ts'
import { runCampaign } from '../../proof/stages/processes/campaign.ts'
import { faultsOf } from '../../proof/stages/processes/faults.ts'
import { planFaults } from '../../proof/stages/processes/injector.ts'
import type { Server } from '../../proof/world/postgres.ts'

const seed = 20_26
const minutes = 0.25

test('with processes killed, connections cut and wrong notifications at once, nothing is lost, counted twice or left open', async (t) => {
  const lines: string[] = []
  const logLine = (line: string) => lines.push(line)
  const report = await runCampaign({ seed, minutes, clients: 28, keep: false, logLine, stopped: t.signal })
  assert.equal(report.verdict, 'PASSED', `${lines.join('\n')}\n${renderReport(reportOfCampaign(report))}`)
  const { figures } = report
  t.diagnostic(`${figures['API calls']} calls, ${figures.orders} orders, ${figures.recoveries} recoveries`)
})

test('the seed determines the plan of a campaign', () => {
  const table = faultsOf({ kind: 'server' } as Server)
  const plan = (of: number) =>
    planFaults(of, 60_000, table).map(({ atMs, fault, seed: own }) => [atMs, fault.name, own])
  assert.deepEqual(plan(1), plan(1))
  assert.notDeepEqual(plan(1), plan(2))
})

test('a wrong stage and wrong arguments of a campaign are reported with one line and exit code 2', async (t) => {
  const ofStage = [['--minutes', 'soon'], ['--seed', '-1'], ['--fast'], ['now']].map((args) => [
    '--stage',
    'processes',
    ...args,
  ])
  for (const args of [...ofStage, ['--stage', 'none'], ['--stage'], []]) {
    const launched = launch(t, process.execPath, ['proof/main.ts', ...args], {
      cwd: repository,
      env: bareEnvironment(),
    })
    const { code, stdout, stderr } = await launched.ended
    assert.deepEqual({ code, stdout, lines: stderr.trim().split('\n').length }, { code: 2, stdout: '', lines: 1 })
  }
})
