// `npm run prove -- --stage NAME`: runs a stage, logs its progress on stderr, prints its report. `npm run chaos`, `simulate`
// and `fuzz` are short names of three stages. Exit code 0: nothing is wrong; 1: something is, or too little happened to show
// that nothing is; 2: wrong arguments, or a program is missing that the stage needs. A run that could not be carried out shows
// nothing about the product: code 1 of a campaign, 2 of `bytes`, 3 of `simulated`. Ctrl-C ends everything that was started:
// code 130.
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { ProgramsMissing } from '../harness/debian.ts'
import { readOneOf, WrongArguments } from '../harness/options.ts'
import { commandOf, type OptionsOf, readOptions, type StageName, stageNames } from './options.ts'
import type { Result } from './report/record.ts'

type Context = { logLine(line: string): void; stopped: AbortSignal }

/** `text` is printed, `report` written to the file of --json, `result` is what --record keeps. */
type Ended = { code: number; text?: string; report?: object; result?: Result }

type Stage<Name extends StageName> = {
  /** Its parts are imported late, so that wrong arguments are reported without loading the service. */
  run(options: OptionsOf<Name>, context: Context): Promise<Ended>
  /** The exit code when it could not be carried out. */
  errorCode: number
  /** Prints the stack of such an error, and not only the message. */
  withStack?: boolean
}

const campaign: Stage<'processes'> = {
  errorCode: 1,
  async run({ cluster: database, install, ...options }, context) {
    if (install && database.kind === 'patroni') {
      const { installCluster } = await import('./stages/patroni/packages.ts')
      installCluster(database.patroni)
    }
    const { runCampaign } = await import('./stages/processes/campaign.ts')
    const { renderReport, reportOfCampaign, resultOfCampaign } = await import('./report/report.ts')
    const report = await runCampaign({ ...options, database, ...context })
    const text = renderReport(reportOfCampaign(report))
    return { code: report.verdict === 'PASSED' ? 0 : 1, text, report, result: resultOfCampaign(report) }
  },
}

const stages: { [Name in StageName]: Stage<Name> } = {
  simulated: {
    errorCode: 3,
    withStack: true,
    async run(options, { logLine, stopped }) {
      const { runSimulated } = await import('./stages/simulated/run-seeds.ts')
      return await runSimulated(options, { logLine, stopped, print })
    },
  },
  processes: campaign,
  patroni: campaign,
  citus: campaign,
  calls: {
    errorCode: 1,
    withStack: true,
    async run(options, context) {
      const { runCalls } = await import('./stages/calls/run.ts')
      const { renderReport, reportOfCalls } = await import('./report/report.ts')
      const report = await runCalls({ ...options, ...context })
      const text = renderReport(reportOfCalls(report))
      return { code: report.verdict === 'PASSED' ? 0 : 1, text, report, result: report }
    },
  },
  bytes: {
    errorCode: 2,
    async run(options, context) {
      const { runFuzz } = await import('./stages/bytes/run.ts')
      const { renderReport, reportOfBytes, resultOfBytes } = await import('./report/report.ts')
      const report = await runFuzz({ ...options, ...context })
      const text = renderReport(reportOfBytes(report))
      return { code: report.findings.length === 0 ? 0 : 1, text, report, result: resultOfBytes(report) }
    },
  },
}

const stoppedCode = 130
const print = (line: string) => void process.stdout.write(`${line}\n`)
const logLine = (line: string) => void process.stderr.write(`${line}\n`)

function readStage(args: string[]): { name: StageName; others: string[] } {
  const place = args.indexOf('--stage')
  try {
    const name = readOneOf('--stage', place < 0 ? '' : (args[place + 1] ?? ''), stageNames)
    return { name, others: args.toSpliced(place, 2) }
  } catch (error) {
    throw new WrongArguments(`${(error as Error).message} (npm run prove -- --stage NAME [its options])`)
  }
}

async function main(args: string[]): Promise<number> {
  const { name, others } = readStage(args)
  const { run, errorCode, withStack } = stages[name] as Stage<StageName>
  const options = readOptions(name, others, () => randomInt(2 ** 31))
  const stopping = new AbortController()
  // The first signal stops the run; a second exits at once and kills what runs.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => (stopping.signal.aborted ? process.exit(stoppedCode) : stopping.abort()))
  }
  const { signal: stopped } = stopping
  let failure: Error | undefined
  const ended = await run(options, { logLine, stopped }).catch((error) => {
    failure = error
    return { code: error instanceof ProgramsMissing ? 2 : errorCode } as Ended
  })
  if (stopped.aborted) {
    logLine(`stopped (seed ${options.seed})`)
    process.exit(stoppedCode)
  }
  if (failure) logLine(String(withStack ? failure.stack : failure.message))
  const { code, text, report, result } = ended
  if (options.json && report) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  if (text) process.stdout.write(text)
  if (options.record && result) {
    const { record } = await import('./report/record.ts')
    record(commandOf(name, others, options.seed), result)
  }
  return code
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof WrongArguments)) throw error
  logLine(error.message)
  process.exitCode = 2
}
