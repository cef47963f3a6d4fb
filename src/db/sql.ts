// SQL is composed of our own parts alone: values are parameters. The compiler refuses any other text in it.
declare const composed: unique symbol

/** Text that `sql` has composed. */
export type Sql = string & { readonly [composed]: true }

/** Composed text, or a literal. As keys of a record any other text, also a template, would be optional. */
export type SqlText<Text extends string> = Text extends Sql
  ? Text
  : Record<never, never> extends Record<Text, true>
    ? never
    : Text

/** Composes SQL of other parts and of numbers. */
export function sql<Parts extends (string | number)[]>(
  strings: TemplateStringsArray,
  ...parts: { [Key in keyof Parts]: Parts[Key] extends string ? SqlText<Parts[Key]> : Parts[Key] }
): Sql {
  return String.raw({ raw: strings }, ...parts) as Sql
}

/** A constant as a value. */
export function quoted(text: string): Sql {
  return `'${text.replaceAll("'", "''")}'` as Sql
}

export function listOf(parts: readonly Sql[]): Sql {
  return parts.join(', ') as Sql
}

/** Times within JSON that PostgreSQL builds, in the same form as all others. */
export const iso = (column: Sql): Sql => sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
