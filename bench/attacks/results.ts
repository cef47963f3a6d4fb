// Results of the attacks: how many there were of each kind, how many were found and by what. The tables are made from the
// results alone.
import { type Spread, spreadOf } from '../report/spread.ts'
import { counted, short, table } from '../report/table.ts'
import { describeMachine, type Machine } from '../stage/machine.ts'
import type { Attacked } from './experiment.ts'

export type Tally = { name: string; attacks: number; found: number; ways: string }

export type Results = {
  machine: Machine
  options: { entries: number; attacks: number; seed: number }
  /** What the log has, and the sizes at which a checkpoint and a receipt were kept. */
  logged: { entries: number; checkpoints: number; seconds: number }
  /** Audits of the log without an attack, with everything that was kept: before the attacks and after them. */
  withoutAttack: { audits: number; falseAlarms: string[] }
  byVerb: Tally[]
  byLog: Tally[]
  byKept: Tally[]
  /** Attacks that were drawn, and given up because the rules of the books alone would have found them. */
  givenUp: number
  seconds: { attack: Spread | null; check: Spread | null; all: number }
  attacked: Attacked[]
}

const thousands = new Intl.NumberFormat('en-US')

/** By what an attack is called, with how often each rule was the first to find it, or which ways there were. */
export function talliesOf(attacked: Attacked[], nameOf: (each: Attacked) => string, wayOf: (each: Attacked) => string) {
  const groups = Map.groupBy(attacked, nameOf)
  return [...groups].sort().map(([name, group]): Tally => {
    const ways = [...Map.groupBy(group, wayOf)].sort().map(([way, { length }]) => `${way} ${length}`)
    const found = group.filter((each) => each.found !== null).length
    return { name, attacks: group.length, found, ways: ways.join('; ') }
  })
}

export function summarise(attacked: Attacked[]): Pick<Results, 'byVerb' | 'byLog' | 'byKept' | 'givenUp' | 'seconds'> {
  const rule = ({ found }: Attacked) => found ?? 'not found'
  const seconds = (which: 'attackMs' | 'checkMs') => spreadOf(attacked.map((each) => each[which] / 1_000))
  return {
    byVerb: talliesOf(
      attacked,
      ({ verb }) => verb,
      ({ object }) => object,
    ),
    byLog: talliesOf(attacked, ({ log }) => log, rule),
    byKept: talliesOf(attacked, ({ kept }) => kept, rule),
    givenUp: attacked.reduce((sum, { noticed }) => sum + (noticed.length > 0 ? 1 : 0), 0),
    seconds: {
      attack: seconds('attackMs'),
      check: seconds('checkMs'),
      all: attacked.reduce((sum, { attackMs, checkMs }) => sum + (attackMs + checkMs) / 1_000, 0),
    },
  }
}

export function tablesOf(results: Results): string {
  const { byVerb, byLog, byKept } = results
  const parts = [
    describe(results),
    tallyTable('what was done to an entry', 'ways', byVerb),
    tallyTable('what was done to the log', 'first broken rule', byLog),
    tallyTable('what the holder had', 'first broken rule', byKept),
  ]
  return parts.join('\n')
}

function tallyTable(title: string, ways: string, tallies: Tally[]): string {
  const rows = tallies.map(({ name, attacks, found, ways: each }) => [name, `${attacks}`, `${found}`, each])
  const sum = (which: 'attacks' | 'found') => tallies.reduce((total, tally) => total + tally[which], 0)
  return table([title, 'attacks', 'found', ways], [...rows, ['**all**', `${sum('attacks')}`, `${sum('found')}`, '']])
}

function describe({ machine, options, logged, withoutAttack, seconds, givenUp }: Results): string {
  const { audits, falseAlarms } = withoutAttack
  const checks = seconds.check ? `${short(seconds.check.median)} s (at most ${short(seconds.check.most)} s)` : '–'
  return (
    `${describeMachine(machine)}; seed ${options.seed}. ${thousands.format(logged.entries)} entries in the log, ` +
    `appended in ${logged.seconds.toFixed(0)} s with ${counted(logged.checkpoints, 'checkpoint')}; a checkpoint or a receipt ` +
    `under it was kept at random. ${counted(audits, 'audit')} of the log without an attack, with all that was kept: ` +
    `${counted(falseAlarms.length, 'false alarm')}. Of an attack the audit found the first trace after ${checks}. ` +
    `${counted(givenUp, 'attack')} took another entry, because the rules of the books would have noticed the first.\n`
  )
}
