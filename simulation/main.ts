// `npm run simulate`: runs simulations and prints the SHA-256 of each history. A failing run is shrunk and printed as a story.
// Exit code 0: every check held; 1: one did not, or two runs of a seed differ; 2: wrong arguments.
import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { WrongArguments } from '../harness/options.ts'
import { allSabotages, type Options, readOptions } from './options.ts'

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), randomInt(2 ** 31))
  // Imported late, so that wrong arguments are reported without loading the service.
  const { openPrograms } = await import('./programs.ts')
  await using parts = new AsyncDisposableStack()
  const programs = await openPrograms()
  parts.defer(() => programs.close())
  const stop = () => void programs.close().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  if (options.sabotage !== allSabotages) return await run(options, programs)
  const { huntAll, huntedNames } = await import('./hunt.ts')
  const rows = await huntAll(programs, { ...options, names: huntedNames, print })
  return rows.every(({ seed }) => seed !== null) ? 0 : 1
}

const print = (line: string) => void process.stdout.write(`${line}\n`)
const report = (line: string) => void process.stderr.write(`${line}\n`)

async function run(options: Options, programs: import('./programs.ts').Programs): Promise<number> {
  const { planSteps } = await import('./plan/plan.ts')
  const { readSteps, writeSteps } = await import('./plan/steps.ts')
  const { runOnce, shrinkRun } = await import('./search.ts')
  const { storyOf } = await import('./report/story.ts')
  const { ednOf } = await import('./report/edn.ts')
  const { seed: first, seeds, hours, sabotage, twice } = options
  const results: object[] = []
  const startedMs = performance.now()
  let code = 0
  for (let seed = first; seed < first + seeds && code === 0; seed += 1) {
    const steps = options.steps ? readSteps(readFileSync(options.steps, 'utf8')) : planSteps(seed, hours)
    const request = { seed, steps, withLines: true }
    const result = await runOnce(programs, { ...request, trace: options.trace }, sabotage)
    const { digest, failure, begun, simulatedMs, tookMs, figures } = result
    const simulated = `${(simulatedMs / 3_600_000).toFixed(2)} h`
    print(
      `seed ${seed}: ${digest}  ${begun} steps, ${simulated} in ${(tookMs / 1_000).toFixed(1)} s${failure ? `, FAILED: ${failure.check}` : ''}`,
    )
    const again = twice
      ? await runOnce(
          programs,
          { ...request, withLines: false, trace: options.trace && `${options.trace}.2` },
          sabotage,
        )
      : undefined
    if (again && again.digest !== digest) {
      print(`seed ${seed}: ${again.digest}  the second time: NOT THE SAME`)
      code = 1
    }
    if (options.edn) writeFileSync(options.edn, ednOf(result.lines))
    if (!failure) {
      results.push({ seed, digest, isRepeated: again?.digest === digest, simulatedMs, tookMs, begun, figures })
      continue
    }
    code = 1
    const foundMs = performance.now() - startedMs
    const failed = { seed, digest, failure, simulatedMs, tookMs, begun, foundMs: Math.round(foundMs) }
    if (options.whole || options.steps) {
      print(`\n${storyOf(result.lines, failure)}`)
      results.push(failed)
      continue
    }
    report(`shrinking ${begun} steps`)
    const shrunk = await shrinkRun(programs, { seed, steps, whole: result, sabotage }, { onTrial: report })
    const { failure: least } = shrunk.shrunk
    print(`\nThe same with ${shrunk.steps.length} steps, after ${shrunk.trials} trials:\n`)
    print(least ? storyOf(shrunk.shrunk.lines, least) : 'it does not fail in a program of its own')
    print(`Steps, for --seed ${seed} --steps FILE:\n\n${writeSteps(shrunk.steps)}`)
    results.push({ ...failed, steps: shrunk.steps, trials: shrunk.trials, shrunk: least })
  }
  if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)
  return code
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof WrongArguments ? error.message : (error as Error).stack}\n`)
  process.exitCode = error instanceof WrongArguments ? 2 : 1
}
