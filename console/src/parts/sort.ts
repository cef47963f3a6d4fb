// The sort of a list, stored in the URL. Each column sorts one way.
import { useQueryState } from './query-state.ts'

type Order = 'ascending' | 'descending'

export type Sort = { order: Order | 'none'; choose(): void }

/** `orders`: the columns that sort, and how. Returns the chosen one, and the sort of a column. */
export function useSort<By extends string>(orders: Record<By, Order>, fallback: NoInfer<By>): [By, (by: By) => Sort] {
  const names = Object.keys(orders) as By[]
  const [chosen, choose] = useQueryState<By>('sort', names, fallback)
  return [chosen, (by) => ({ order: by === chosen ? orders[by] : 'none', choose: () => choose(by) })]
}
