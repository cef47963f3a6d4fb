// What a migration may do while the previous version serves, as a table: that version continues to read and write the columns
// it knows, and no request waits for a table that is being rewritten or scanned.

export type Breach = { migration: string; rule: string; statement: string }

type Rule = { name: string; breaks(statement: string, ofThisFile: Set<string>): boolean }

const tableIn = (statement: string) =>
  /^(?:alter table|create (?:unique )?index (?:if not exists )?\w+ on|update|delete from)(?: only)? (\w+)/.exec(
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
  { name: 'rows are not changed in one statement', breaks: inUse(/^(update|delete from)\b/) },
  { name: 'no table is locked or rewritten', breaks: (text) => /^(lock|cluster|vacuum full)\b/.test(text) },
  { name: 'rights are granted by src/db/rights.ts', breaks: (text) => /^(grant|revoke)\b/.test(text) },
]

/** One statement each, in one line, lower case, without comments. A body in dollar quotes is part of its statement. */
export function statementsOf(text: string): string[] {
  const bodies: string[] = []
  const withoutBodies = text
    .replace(/--.*$/gm, '')
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, (body) => `$${bodies.push(body)}$`)
  return withoutBodies
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim().toLowerCase())
    .filter((statement) => statement !== '')
}

export function breachesOf(migration: string, text: string): Breach[] {
  const statements = statementsOf(text)
  const ofThisFile = new Set(statements.flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []))
  return statements.flatMap((statement) =>
    rules
      .filter(({ breaks }) => breaks(statement, ofThisFile))
      .map(({ name }) => ({ migration, rule: name, statement })),
  )
}
