// The attacks: how many there were of each kind, how many were found and by what.
import { spreadOver } from '../report/figures.ts'
import { counted, type Report, short, table, thousands } from '../report/report.ts'
import type { Attacked } from './experiment.ts'

export type Measured = {
  /** What the log has, and the sizes at which a checkpoint and a receipt were kept. */
  logged: { entries: number; checkpoints: number; seconds: number }
  /** Audits of the log without an attack, with everything that was kept: before the attacks and after them. */
  withoutAttack: { audits: number; falseAlarms: string[] }
  attacked: Attacked[]
}

type Of = (each: Attacked) => string
const rule: Of = ({ found }) => found ?? 'not found'

const tallies: [head: string, ways: string, nameOf: Of, wayOf: Of][] = [
  ['what was done to an entry', 'ways', ({ verb }) => verb, ({ object }) => object],
  ['what was done to the log', 'first broken rule', ({ log }) => log, rule],
  ['what the holder had', 'first broken rule', ({ kept }) => kept, rule],
]

export function reportOf(
  { logged, withoutAttack, attacked }: Measured,
  { seed }: { seed: number },
): Pick<Report, 'how' | 'tables'> {
  const { audits, falseAlarms } = withoutAttack
  const check = spreadOver(attacked, ({ checkMs }) => checkMs / 1_000)
  const checks = check ? `${short(check.median)} s (at most ${short(check.most)} s)` : '–'
  const givenUp = attacked.filter(({ noticed }) => noticed.length > 0).length
  return {
    how:
      `seed ${seed}. ${thousands(logged.entries)} entries in the log, ` +
      `appended in ${logged.seconds.toFixed(0)} s with ${counted(logged.checkpoints, 'checkpoint')}; a checkpoint or a receipt ` +
      `under it was kept at random. ${counted(audits, 'audit')} of the log without an attack, with all that was kept: ` +
      `${counted(falseAlarms.length, 'false alarm')}. Of an attack the audit found the first trace after ${checks}. ` +
      `${counted(givenUp, 'attack')} took another entry, because the rules of the books would have noticed the first.`,
    tables: tallies.map(([head, ways, nameOf, wayOf]) => {
      const groups = [...Map.groupBy(attacked, nameOf)].sort()
      const rows = [...groups, ['**all**', attacked] as const].map(([name, group]) => {
        const counts = [...Map.groupBy(group, wayOf)].sort().map(([way, { length }]) => `${way} ${length}`)
        const found = group.filter((each) => each.found !== null).length
        return [name, `${group.length}`, `${found}`, group === attacked ? '' : counts.join('; ')]
      })
      return table([head, 'attacks', 'found', ways], rows)
    }),
  }
}
