// What a broken guard is: statements, fragments of SQL and exported functions or tables by their names, each with its broken form.

export type Change = {
  of: 'export' | 'fragment' | 'statement'
  name: string
  /** The one statement in which a fragment is broken; undefined: each that has it. */
  only?: string | undefined
  /** Gets what is there, and returns what is in its place. */
  broken(original: unknown): unknown
}

export type Guard = {
  /** What does not hold any more. */
  what: string
  /** The id of the check that is expected to find it, or of several, by what happens first. */
  by: string
  /** Why no simulation can find it, where that is so. */
  outside?: string
  changes: Change[]
}

export function guard(by: string, what: string, changes: Change[], outside?: string): Guard {
  return { by, what, changes, ...(outside !== undefined && { outside }) }
}

/** A function or a table that a file of src exports by this name; a name is exported by one file. */
export const exported = <Original>(name: string, broken: (original: Original) => Original) =>
  ({ of: 'export', name, broken }) as Change

/** An exported text, in every statement that has it, or in one. */
export const fragment = (name: string, broken: (sql: string) => string, only?: string) =>
  ({ of: 'fragment', name, broken, only }) as Change

/** A clause of the final text of a statement. */
export const instead = (statement: string, clause: string, by: string) =>
  ({ of: 'statement', name: statement, broken: replaced(clause, by) }) as Change

export const without = (statement: string, clause: string) => instead(statement, clause, '')

/** The clause occurs once, with any white space between its words. */
export function replaced(clause: string, by: string): (sql: string) => string {
  const pattern = new RegExp(clause.split(' ').map(RegExp.escape).join('\\s+'))
  return (sql) => {
    const [before = '', after, ...others] = sql.split(pattern)
    if (after === undefined || others.length > 0) throw new Error(`the text does not have "${clause}" once`)
    return `${before}${by}${after}`
  }
}
