// At its start a service stores its rules of refunds. From then on orders are judged by the stored ones, whichever process does
// so, and a start whose settings would judge a confirmed order by another rule is refused. Several processes may start at once:
// the first to store the rule of a day that has come decides it. A rule is never removed, so that a process with older settings
// takes nothing back; until its day the last start decides its numbers.
import type { Database, Log } from '../../db/database.ts'
import { isAnyConfirmedSince, listRules, storeRules } from './dated-rules.sql.ts'
import { isSameRule, type RefundRule, ruleInWords } from './dated-rules.ts'

export async function keepRefundRules(database: Database, rules: RefundRule[], log: Log): Promise<void> {
  const { rules: stored, today } = await listRules(database)
  requireStored(stored, rules, today)
  const added = rules.filter((rule) => !stored.some((each) => isSameRule(each, rule)))
  for (const { from } of added) {
    if (from !== null && from <= today && (await isAnyConfirmedSince(database, from))) {
      throw new Error(`REFUND_RULES: orders were confirmed since ${from}. A new rule begins on a later day than today.`)
    }
  }
  for (const { from } of stored) {
    if (from === null || rules.some((rule) => rule.from === from)) continue
    log.warn({ from }, 'REFUND_RULES of this process is without a rule that another one has stored: it will hold')
  }
  if (added.length === 0) return
  await storeRules(database, added, today)
  requireStored((await listRules(database)).rules, rules, today)
}

/** A rule whose day has come is in the settings, as it was. */
function requireStored(stored: RefundRule[], rules: RefundRule[], today: string): void {
  for (const kept of stored) {
    const given = rules.find(({ from }) => from === kept.from)
    if ((kept.from !== null && kept.from > today) || (given && isSameRule(given, kept))) continue
    const name = kept.from === null ? 'REFUND_FULL_PRICE_DAYS, REFUND_SMALLEST_AMOUNT' : 'REFUND_RULES'
    throw new Error(
      `${name}: orders are judged by the ${ruleInWords(kept)}. It stays: put it back, and give other numbers to a rule of ` +
        'REFUND_RULES with a later day than today.',
    )
  }
}
