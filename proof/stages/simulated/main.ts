// The stage `simulated`: runs simulations and prints the SHA-256 of each one's events. A failing run is shrunk and printed as a
// story. Exit code 0: every check held; 1: one did not, two runs of a seed differ, or one of several broken guards was not found or
// not shrunk to a short story; 3: a run could not be carried out, which shows nothing about the product.
import { randomInt } from 'node:crypto'
import { readOptions } from './options.ts'

const print = (line: string) => void process.stdout.write(`${line}\n`)
const report = (line: string) => void process.stderr.write(`${line}\n`)

export async function runSimulated(args: string[]): Promise<number> {
  const options = readOptions(args, randomInt(2 ** 31))
  // Imported late, so that wrong arguments are reported without loading the service.
  const { openPrograms } = await import('./programs.ts')
  const { runSeeds } = await import('./run-seeds.ts')
  const { exitCodeOf, findGuards } = await import('../../guards/find.ts')
  await using parts = new AsyncDisposableStack()
  const programs = await openPrograms()
  parts.defer(() => programs.close())
  const stop = () => void programs.close().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  const { guards: names } = options
  if (names.length <= 1) return await runSeeds(programs, { ...options, guard: names[0], print, report })
  return exitCodeOf(await findGuards(programs, { ...options, names, print }), options)
}
