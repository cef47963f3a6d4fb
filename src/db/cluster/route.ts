// Runs each statement where its rows are: one about a customer in the group of that customer, one about every group in each of
// them, everything else on the coordinator.
import { assert } from '../../core/assert.ts'
import type { Database, Statement } from '../database.ts'

export function routeByGroup(
  coordinator: Database,
  groups: Database[],
  groupOf: (customerId: string) => number,
): Database {
  function groupAt(number: number): Database {
    const group = groups[number]
    assert(group, `there is no group ${number}`)
    return group
  }

  async function runOfCustomer<Row extends object>(statement: Statement, values: unknown[]): Promise<Row[]> {
    const group = groupAt(groupOf(values[0] as string))
    if (!statement.apart) return group.run<Row>(statement, values)
    const { step, rest, restValues } = statement.apart
    const mayHappen = (await coordinator.run(step, values.slice(restValues))).length > 0
    return mayHappen ? group.run<Row>(rest, values.slice(0, restValues)) : []
  }

  /** Batches are about one group; others are split. A row that names the place of its input names that among all of them. */
  async function runByGroup<Row extends object>(statement: Statement, values: unknown[]): Promise<Row[]> {
    const customers = values[0] as string[]
    const places = Map.groupBy(customers.keys(), (place) => groupOf(customers[place] as string))
    if (places.size === 1) return groupAt([...places.keys()][0] as number).run<Row>(statement, values)
    const arrays = values.filter((value) => Array.isArray(value))
    const canBeSplit = arrays.every(({ length }) => length === customers.length)
    assert(canBeSplit, `${statement.name} cannot be split by group`)
    const parts = [...places].map(async ([number, own]) => {
      const pick = (value: unknown) => (Array.isArray(value) ? own.map((place) => value[place]) : value)
      const rows = await groupAt(number).run<Row & { ordinal?: number }>(statement, values.map(pick))
      return rows.map((row) =>
        row.ordinal === undefined ? row : { ...row, ordinal: (own[row.ordinal - 1] as number) + 1 },
      )
    })
    return (await Promise.all(parts)).flat()
  }

  return {
    ...coordinator,
    groupOf,
    groups,
    async run<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
      switch (statement.about) {
        case 'customer':
          return runOfCustomer<Row>(statement, values)
        case 'customers':
          return runByGroup<Row>(statement, values)
        case 'each group':
          return (await Promise.all(groups.map((group) => group.run<Row>(statement, values)))).flat()
        case 'global':
          return coordinator.run<Row>(statement, values)
      }
    },
  }
}
