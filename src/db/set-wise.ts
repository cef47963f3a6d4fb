// Helpers for statements that take arrays: the columns of the inputs go in, and one output per input comes out.

/** One array per name, for `unnest`. */
export function columns<Input extends object>(inputs: Input[], ...names: (keyof Input)[]): unknown[][] {
  return names.map((name) => inputs.map((input) => input[name]))
}

/**
 * The row of each input, or null. Reads answer by the place of the input (`with ordinality`), never by an id from the
 * row: an order id alone may be another customer's.
 */
export function byOrdinal<Row extends { ordinal: number }>(inputs: unknown[], rows: Row[]): (Row | null)[] {
  const outputs: (Row | null)[] = inputs.map(() => null)
  for (const row of rows) outputs[row.ordinal - 1] = row
  return outputs
}
