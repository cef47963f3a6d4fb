// Lists page by page: what a page is asked for, and all pages one after the other.
import { queryOf } from './path.ts'
import type { EntryKind } from './types.ts'

export type PageRequest = {
  /** Rows of a page, 1 to 1,000. 100. */
  limit?: number | undefined
  /** The `nextCursor` of the page before. */
  cursor?: string | undefined
}

export type StatementQuery = PageRequest & {
  /** Both included. */
  from?: Date | string | undefined
  to?: Date | string | undefined
  kind?: EntryKind | readonly EntryKind[] | undefined
}

export function pageQueryOf({ cursor, limit }: PageRequest): string {
  return queryOf({ cursor, limit: limit?.toString() })
}

export function statementQueryOf({ from, to, kind, limit, cursor }: StatementQuery): string {
  return queryOf({
    cursor,
    limit: limit?.toString(),
    from: timeOf(from),
    to: timeOf(to),
    kind: kind === undefined ? undefined : [kind].flat().join(','),
  })
}

function timeOf(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time
}

/** Each page is requested when it is needed. */
export async function* pagesFrom<Request extends PageRequest, Page extends { nextCursor: string | null }>(
  request: Request,
  read: (request: Request) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  let { cursor } = request
  do {
    const page = await read({ ...request, cursor })
    yield page
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
