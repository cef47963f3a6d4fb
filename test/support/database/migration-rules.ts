// What a migration may do while the previous version serves, as a table: that version continues to read and write the columns
// it knows, and no request waits for a table that is being rewritten or scanned. From the 44th on a migration is also applied to
// tables that Citus has distributed.
import { splitStatements } from '../../../src/db/cluster/split.ts'
import { distributedTables, tablesInGroups } from '../../../src/db/cluster/tables.ts'

export type Breach = { migration: string; rule: string; statement: string }

type Rule = {
  name: string
  breaks(statement: string, ofThisFile: Set<string>, statements: string[]): boolean
  /** For the migrations after this one. */
  after?: number
}

const tableIn = (statement: string) =>
  /^(?:(?:alter|create) table(?: if not exists)?|create (?:unique )?index (?:if not exists )?\w+ on|update|delete from)(?: only)? (\w+)/.exec(
    statement,
  )?.[1]

/** A rule about tables that are in use: tables created by the same file are not yet. */
const inUse = (pattern: RegExp) => (statement: string, ofThisFile: Set<string>) =>
  pattern.test(statement) && !ofThisFile.has(tableIn(statement) ?? '')

/** So that a remaining comma separates clauses. */
function withoutParentheses(statement: string): string {
  const without = statement.replaceAll(/\([^()]*\)/g, '')
  return without === statement ? statement : withoutParentheses(without)
}

/** The last one that is applied before the tables of a cluster are distributed. */
const lastBeforeClusters = 43

const isIn = (tables: string[], statement: string) => tables.includes(tableIn(statement) ?? '')

/** Where a column or a table has a unique key, other than one that begins with customer_id. */
const uniqueKey =
  /(?<!\bcustomer_id [^,]*)\b(unique|primary key)\b(?! index)(?! ?\(customer_id\b)|^create unique index (?!.* \(customer_id\b)|\bexclude\b/

export const rules: Rule[] = [
  {
    name: 'nothing is dropped that the previous version reads',
    breaks: (text) => /\bdrop (table|column|function|view|type|schema)\b/.test(text),
  },
  { name: 'nothing is renamed', breaks: (text) => /\brename\b/.test(text) },
  { name: 'no column changes its type', breaks: inUse(/\balter (column )?\w+ (set data )?type\b/) },
  { name: 'a column that may be empty stays so', breaks: inUse(/\bset not null\b/) },
  {
    name: 'a new column may be left out: it is nullable or has a default',
    breaks: inUse(/\badd (column )?(if not exists )?(?!constraint\b)\w+ (?=[^,]*\bnot null\b)(?![^,]*\bdefault\b)/),
  },
  {
    name: 'a default is a constant or now(): anything else rewrites the table',
    breaks: inUse(/\badd (column )?(if not exists )?\w+ [^,]*\bdefault (?!now\(\))[^,]*\w\(/),
  },
  {
    name: 'a new constraint is added not valid, and validated by a later file',
    breaks: (text, ofThisFile) =>
      inUse(/\badd constraint\b(?![^,]*\b(not valid|using index)\b)/)(withoutParentheses(text), ofThisFile),
  },
  {
    name: 'an index is created if not exists: with many rows it is created beforehand, concurrently',
    breaks: inUse(/^create (unique )?index (?!if not exists)/),
  },
  {
    name: 'an index is dropped by a file of its own: with another lock before, it and a writer would wait for each other',
    breaks: (text, _, statements) =>
      /^drop index\b/.test(text) && statements.some((other) => !/^(drop index|do)\b/.test(other)),
  },
  { name: 'rows are not changed in one statement', breaks: inUse(/^(update|delete from)\b/) },
  { name: 'no table is locked or rewritten', breaks: (text) => /^(lock|cluster|vacuum full)\b/.test(text) },
  { name: 'rights are granted by src/db/rights.ts', breaks: (text) => /^(grant|revoke)\b/.test(text) },
  {
    name: 'a table of groups is altered by one clause per statement',
    after: lastBeforeClusters,
    breaks: (text) =>
      /^alter table\b/.test(text) && isIn(tablesInGroups, text) && withoutParentheses(text).includes(','),
  },
  {
    name: 'a new column of a table of groups has no constraint: it is added by name',
    after: lastBeforeClusters,
    breaks: (text) =>
      isIn(tablesInGroups, text) &&
      /\badd (column )?(if not exists )?(?!constraint\b)\w+ .*\b(check|references|unique|primary key)\b/.test(text),
  },
  {
    name: 'a unique key of a distributed table begins with customer_id',
    after: lastBeforeClusters,
    breaks: (text) => isIn(distributedTables, text) && uniqueKey.test(text),
  },
  {
    name: 'a foreign key to a distributed table is added after its table is created',
    after: lastBeforeClusters,
    breaks: (text) => new RegExp(`^create table\\b.*\\breferences (${distributedTables.join('|')})\\b`).test(text),
  },
  {
    name: 'a new table of customers is named in src/db/cluster/tables.ts',
    after: lastBeforeClusters,
    breaks: (text) => /^create table\b.*\bcustomer_id\b/.test(text) && !isIn(tablesInGroups, text),
  },
  {
    name: 'the body of a function is in quotes: a file is split into its statements',
    after: lastBeforeClusters,
    breaks: (text) => /\bbegin atomic\b/.test(text),
  },
]

/** One statement each, in one line, lower case, without comments and without bodies in dollar quotes. */
function statementsOf(text: string): string[] {
  return splitStatements(text).map((statement) =>
    statement
      .replace(/--.*$/gm, '')
      .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, '$$$$')
      .replace(/\s+/g, ' ')
      .trim()
      .toLowerCase(),
  )
}

export function breachesOf(migration: string, text: string): Breach[] {
  const statements = statementsOf(text)
  const ofThisFile = new Set(statements.flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []))
  const version = Number.parseInt(migration, 10)
  return statements.flatMap((statement) =>
    rules
      .filter(({ breaks, after = 0 }) => version > after && breaks(statement, ofThisFile, statements))
      .map(({ name }) => ({ migration, rule: name, statement })),
  )
}
