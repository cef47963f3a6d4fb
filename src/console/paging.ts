// Pages of a list: one row more than a page is read, and where there is one the page ends with the key of its last row. The
// next one begins behind that key, however many rows there are and whatever has come meanwhile.
import { refuseFields } from '../core/errors.ts'

const defaultLimit = 50

export type Paging = { cursor?: string; limit?: string }

export function limitOf({ limit }: Paging): number {
  return limit === undefined ? defaultLimit : Number(limit)
}

/** The key of a row, where it can be one. */
export function cursorOf({ cursor }: Paging, pattern: RegExp): string | null {
  if (cursor === undefined) return null
  if (!pattern.test(cursor)) {
    throw refuseFields('VAL003', [{ field: 'cursor', rule: 'must be the nextCursor of a page of this list' }])
  }
  return cursor
}

export function pageOf<Row>(
  rows: Row[],
  limit: number,
  keyOf: (row: Row) => string,
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return { page, nextCursor: last === undefined ? null : keyOf(last) }
}
