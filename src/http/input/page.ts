// The size of a page, as the query of a list has it: query values are text.
import Type from 'typebox'

const defaultPage = 100

export const Limit = Type.String({ pattern: '^([1-9]\\d{0,2}|1000)$', description: '1 to 1000' })

export function pageSizeOf(limit: string | undefined): number {
  return limit === undefined ? defaultPage : Number(limit)
}
