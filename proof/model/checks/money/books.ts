// The books by themselves: the snapshots of the watch, the audit at the end, and that no ledger entry has changed since
// it was first read.

import type { World } from '../../../world/world.ts'
import type { Check } from '../evidence.ts'
import { appendOnlyCheck, type EntryDigest, entryDigestsText, type Watched } from './watch.ts'

export async function checkBooks(world: World, watch: Watched): Promise<Check[]> {
  const watched = [...watch.violations].map(([title, violations]) => ({ id: 'I-1…17', title, violations }))
  return [...ofAudit(watch), ...watched, await auditByCommand(world), await appendOnly(world, watch)]
}

/** One for each rule that is broken, under the same title. */
function ofAudit({ brokenRules }: Watched): Check[] {
  const check = { id: 'I-1…17', title: 'the audit finds no rule broken', violations: [] }
  if (brokenRules.size === 0) return [check]
  return [...brokenRules].map(([rule, violations]) => ({ ...check, rule, violations }))
}

async function auditByCommand(world: World): Promise<Check> {
  const { code, stdout, stderr } = await world.runCommand(['audit', '--json'])
  const violations = code === 0 ? [] : [`it ended with ${code}: ${stdout.slice(0, 2_000)}${stderr.slice(0, 2_000)}`]
  return { id: 'I-1…21', title: '`credits audit` passes at the end', violations }
}

async function appendOnly({ books }: World, watch: Watched): Promise<Check> {
  return { ...appendOnlyCheck, violations: watch.findChanged(await books.query<EntryDigest>(entryDigestsText)) }
}
