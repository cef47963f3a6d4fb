// The words of the audits, in English. The rules say of themselves what they are, in English.

export const audits = {
  caption: 'Audits, newest first',
  intro:
    'An audit judges every row of the books by the rules that they must keep. The worker makes one every night; the command audit makes one at any time.',
  ended: 'When',
  cause: 'By',
  causes: { DAILY: 'The worker, nightly', COMMAND: 'By command' },
  result: 'Result',
  clean: 'Clean',
  broken: (count: string) => `${count} violations`,
  brokenOnce: 'One violation',
  unread: 'Not all read',
  rules: 'Rules',
  rows: 'Rows',
  took: 'Took',
  empty: 'No audit is on record yet. The worker makes the first one in the coming night.',

  home: 'Audit of the books',
  homeClean: (rules: string, age: string) => `All ${rules} rules held ${age} ago.`,
  homeBroken: (count: string, rules: string, age: string) =>
    `${count} found by ${rules} rules ${age} ago. Tell whoever runs the service.`,
  homeUnread: (age: string) =>
    `Some rows could not be read in time ${age} ago and were not judged. Nothing is known to be wrong. Tell whoever runs the service.`,
  homeOld: 'Older than two days: the nightly audit is missing.',
  homeNone: 'None is on record yet.',
  homeNever: 'None has come for two days: the nightly audit is missing.',
  none: 'None yet',
  old: 'Overdue',
  see: 'What was looked at',

  one: 'Audit',
  back: 'All audits',
  begun: 'Begun',
  endedAt: 'Ended',
  checked: 'What was looked at',
  kind: 'Rows of',
  kinds: {
    accounts: 'Accounts',
    entries: 'Ledger entries',
    holds: 'Holds',
    orders: 'Orders',
    operations: 'Operations at the gateway',
    events: 'Events',
  },
  isClean: 'Every row kept every rule.',
  isBroken:
    'The books break their own rules. That is no discrepancy with the gateway: somebody or something has written what the service does not write. Tell whoever runs the service, and refund nothing of what is listed here until it is clear.',
  isUnread:
    'Some rows could not be read in time and were not judged. Nothing is known to be wrong. Tell whoever runs the service: the database is busy, or an index is gone. Then the books are to be audited again.',
  findings: 'Broken rules',
  subjects: (shown: string, count: string) =>
    shown === count ? `Rows: ${count}` : `Rows: ${count}, the first ${shown}`,
  about: 'About',
  where: 'Where',
  schema: 'The database itself',
  fields: {
    entryNumber: 'Ledger entry',
    operationId: 'Operation',
    holdId: 'Hold',
    eventNumber: 'Event',
    kind: 'Kind',
    table: 'Table',
    name: 'Name',
    fault: 'What is wrong',
    scan: 'Rows of',
    from: 'From',
    rows: 'Rows at a time',
  },
  /** What the service itself writes into these. */
  values: {
    kind: {
      constraint: 'constraint',
      'unique index': 'unique index',
      trigger: 'trigger',
      setting: 'setting',
      function: 'function',
    },
    fault: {
      'is missing': 'it is missing',
      'is disabled': 'it is disabled',
      'is not validated': 'it is not validated: older rows may break it',
      'is not enforced': 'it is not enforced',
      'is not unique': 'it is not unique',
      'is not valid': 'it is not valid',
      'keeps triggers from firing': 'it keeps triggers from firing',
      'gives another hash than it did': 'it gives another hash than it did',
    },
    table: { 'all tables': 'all tables' },
  },
  /** Of a rule whose text is another in this language. */
  ruleWords: {} as Record<string, string>,
}
