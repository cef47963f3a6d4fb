// The books by themselves: the snapshots of the watch, the audit at the end, and that no ledger entry has changed since
// it was first read.
import type { World } from '../../../world/world.ts'
import { type Check, checksOf } from '../evidence.ts'
import { appendOnlyCheck, type EntryDigest, entryDigestsText, type Watched } from './watch.ts'

export async function checkBooks({ books, runCommand }: World, watch: Watched): Promise<Check[]> {
  const { code, stdout, stderr } = await runCommand(['audit', '--json'])
  return [
    ...ofAudit(watch),
    ...[...watch.violations].map(([title, violations]) => ({ id: 'I-1…17', title, violations })),
    ...checksOf({
      'I-1…21 `credits audit` passes at the end':
        code === 0 ? [] : [`it ended with ${code}: ${stdout.slice(0, 2_000)}${stderr.slice(0, 2_000)}`],
      [appendOnlyCheck]: watch.findChanged(await books.query<EntryDigest>(entryDigestsText)),
    }),
  ]
}

/** One for each rule that is broken, under the same title. */
function ofAudit({ brokenRules }: Watched): Check[] {
  const check = { id: 'I-1…17', title: 'the audit finds no rule broken', violations: [] }
  if (brokenRules.size === 0) return [check]
  return [...brokenRules].map(([rule, violations]) => ({ ...check, rule, violations }))
}
