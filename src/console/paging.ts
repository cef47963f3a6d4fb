// Keyset pagination: a page reads one row more than its limit. If that row exists, the key of the last row shown is the cursor,
// and the next page starts after it, whatever was inserted meanwhile.
import { refuseFields } from '../core/errors.ts'

const defaultLimit = 50

/** Cursors of lists that are sorted by a time to the microsecond and an id. */
export const microsecondCursorPattern = /^\d{1,16}~[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Sorts before every row: where the first page of such a list starts. */
export const newestCursor = '9007199254740991~ffffffff-ffff-ffff-ffff-ffffffffffff'

export type Paging = { cursor?: string; limit?: string }

export function limitOf({ limit }: Paging): number {
  return limit === undefined ? defaultLimit : Number(limit)
}

/** The cursor of the query, refused unless it has the form of a key of this list. */
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
