// The stage `processes`, and on a cluster `patroni` or `citus`: runs a campaign, logs its progress on stderr, prints the
// report. Exit code 0: passed; 1: failed or invalid. Ctrl-C ends everything that was started.
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { readOptions } from './options.ts'

const stoppedCode = 130

export async function runProcesses(args: string[]): Promise<number> {
  const options = readOptions(args, randomInt(2 ** 31))
  if (options.install && options.database.kind === 'patroni') {
    const { installCluster } = await import('../patroni/packages.ts')
    installCluster(options.database.patroni)
  }
  // Imported late, so that wrong arguments are reported without loading the service.
  const { runCampaign } = await import('./campaign.ts')
  const { renderReport } = await import('../../report/campaign.ts')
  const stopping = new AbortController()
  // The first signal stops the campaign; a second exits at once and kills what runs.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => (stopping.signal.aborted ? process.exit(stoppedCode) : stopping.abort()))
  }
  try {
    const logLine = (line: string) => process.stderr.write(`${line}\n`)
    const report = await runCampaign({ ...options, logLine, stopped: stopping.signal })
    if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
    process.stdout.write(renderReport(report))
    return report.verdict === 'PASSED' ? 0 : 1
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    process.stderr.write(`stopped (seed ${options.seed})\n`)
    return stoppedCode
  }
}
