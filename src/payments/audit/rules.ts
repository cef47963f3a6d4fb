// The rules that the books must keep at any moment, as a table: the audit checks every row by them. `holds` is SQL over one
// row of the rule's scan (src/payments/audit/scans.sql.ts has the names); anything but true is a violation, null included. A
// rule covers only what one statement of the service writes at once, so it holds in every snapshot while money moves. A
// liveness rule also needs a worker that has had the time to do its part. After a restore, or a stop of all services, it is
// broken although nothing is wrong, so only a process that has run for a while checks it.
import { accountRules, adjustmentRules, entryRules, eventRules, holdRules, usageRules } from './credit-rules.sql.ts'
import { journalRules, operatorActionRules, recordRules } from './journal-rules.sql.ts'
import { operationRules, orderRules } from './order-rules.sql.ts'
import type { ScanName, ScanRule } from './scans.sql.ts'

export type Rule = ScanRule & { scan: ScanName }

const byScan: Record<ScanName, ScanRule[]> = {
  accounts: accountRules,
  entries: entryRules,
  holds: holdRules,
  adjustments: adjustmentRules,
  orders: orderRules,
  operations: operationRules,
  events: eventRules,
  usage: usageRules,
  customers: recordRules('customers'),
  apiKeys: recordRules('apiKeys'),
  serviceTokens: recordRules('serviceTokens'),
  operators: recordRules('operators'),
  operatorActions: operatorActionRules,
  discrepancies: recordRules('discrepancies'),
  audits: recordRules('audits'),
  budgets: recordRules('budgets'),
  eventEndpoints: recordRules('eventEndpoints'),
  logCheckpoints: recordRules('logCheckpoints'),
  journalEntries: journalRules,
}

export const rules: Rule[] = Object.entries(byScan).flatMap(([scan, list]) =>
  list.map((each) => ({ ...each, scan: scan as ScanName })),
)

export function rulesOf(scan: ScanName): Rule[] {
  return rules.filter((each) => each.scan === scan)
}
