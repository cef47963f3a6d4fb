// One list for the inputs of a set-wise statement: each input becomes a row of `unnest`, and the list gives the types of the
// arrays, the names of the columns and the values, in one order.
//
//   const keys = inputs<OrderKey>({ customerId: 'uuid', orderId: 'text' })
//   `… from unnest(${keys.arrays}) with ordinality as i (${keys.columns}, ordinal) …`
//   database.run(findOrdersStatement, keys.valuesOf(orders))
import type { Sql } from './sql.ts'

type ColumnType = 'uuid' | 'text' | 'bytea' | 'bigint' | 'int' | 'bool' | 'boolean' | 'timestamptz'

/** With a name where the column is not called as the property is. */
type Column = ColumnType | readonly [type: ColumnType, name: string]

export type Inputs<Input> = {
  /** `$1::uuid[], $2::text[]` */
  arrays: Sql
  /** `customer_id, order_id` */
  columns: Sql
  /** An array per column. */
  valuesOf(inputs: Input[]): unknown[][]
}

export function inputs<Input extends object>(list: { [Name in keyof Input]?: Column }): Inputs<Input> {
  const columns = Object.entries(list as Record<string, Column>).map(([property, column]) => {
    const [type, name] = typeof column === 'string' ? [column, snakeCase(property)] : column
    return { property: property as keyof Input, type, name }
  })
  return {
    arrays: columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ') as Sql,
    columns: columns.map(({ name }) => name).join(', ') as Sql,
    valuesOf: (all) => columns.map(({ property }) => all.map((input) => input[property])),
  }
}

function snakeCase(property: string): string {
  return property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
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
