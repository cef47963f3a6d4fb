// `npm run prove -- --stage NAME`: runs a stage with the rest of the arguments. `npm run chaos`, `npm run simulate` and
// `npm run fuzz` are short names of three of them. Exit code 2: wrong arguments; the others are the stage's.
import { readOneOf, WrongArguments } from '../harness/options.ts'

type Stage = {
  /** Returns the exit code. Its parts are imported late, so that wrong arguments are reported without loading the service. */
  load(): Promise<(args: string[]) => Promise<number>>
  /** Come before those of the command line. */
  args?: string[]
  /** The exit code when a run could not be carried out. */
  errorCode: number
  /** Of such an error the stack is printed, and not only the message. */
  withStack?: boolean
}

const processes = async () => (await import('./stages/processes/main.ts')).runProcesses

const stages: Record<string, Stage> = {
  simulated: {
    load: async () => (await import('./stages/simulated/main.ts')).runSimulated,
    errorCode: 3,
    withStack: true,
  },
  processes: { load: processes, errorCode: 1 },
  patroni: { load: processes, args: ['--cluster', 'patroni'], errorCode: 1 },
  citus: { load: processes, args: ['--cluster', 'citus'], errorCode: 1 },
  bytes: { load: async () => (await import('./stages/bytes/main.ts')).runBytes, errorCode: 2 },
}

const usage = ' (npm run prove -- --stage NAME [its options])'

function readStage(args: string[]): { stage: Stage; others: string[] } {
  const place = args.indexOf('--stage')
  try {
    const name = readOneOf('--stage', place < 0 ? '' : (args[place + 1] ?? ''), Object.keys(stages))
    return { stage: stages[name] as Stage, others: args.toSpliced(place, 2) }
  } catch (error) {
    throw new WrongArguments(`${(error as Error).message}${usage}`)
  }
}

async function main(args: string[]): Promise<number> {
  const { stage, others } = readStage(args)
  try {
    const run = await stage.load()
    return await run([...(stage.args ?? []), ...others])
  } catch (error) {
    if (error instanceof WrongArguments) throw error
    process.stderr.write(`${stage.withStack ? (error as Error).stack : (error as Error).message}\n`)
    return stage.errorCode
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof WrongArguments)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
