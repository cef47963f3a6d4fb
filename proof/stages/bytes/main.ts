// The stage `bytes`: sends malformed and hostile requests to the service, logs its progress on stderr, prints the report.
// Exit code 0: nothing found; 1: something was found; 2: it could not run. Ctrl-C ends everything that was started.
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { readOptions } from './options.ts'

const stoppedCode = 130

export async function runBytes(args: string[]): Promise<number> {
  const options = readOptions(args, randomInt(2 ** 31))
  // Imported late, so that wrong arguments are reported without loading the service.
  const { runFuzz } = await import('./run.ts')
  const { renderReport } = await import('../../report/bytes.ts')
  const stopping = new AbortController()
  // The first signal stops the run; a second exits at once and kills what runs.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => (stopping.signal.aborted ? process.exit(stoppedCode) : stopping.abort()))
  }
  const logLine = (line: string) => process.stderr.write(`${line}\n`)
  const report = await runFuzz({ ...options, logLine, stopped: stopping.signal })
  if (stopping.signal.aborted) {
    process.stderr.write(`stopped (seed ${options.seed})\n`)
    return stoppedCode
  }
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  process.stdout.write(renderReport(report))
  return report.findings.length === 0 ? 0 : 1
}
