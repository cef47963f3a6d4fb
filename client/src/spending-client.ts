// The internal API for the platform's own services: spend, hold, capture, release, and the statement, by pages or entry
// by entry. The customer is named in each request, the caller by its token.
import { queryOf, segment } from './path.ts'
import { send } from './send.ts'
import { type CallOptions, type ClientOptions, requireSecret, settingsOf } from './settings.ts'
import type {
  Budgets,
  CaptureRequest,
  EndedHold,
  EntryKind,
  Hold,
  HoldRequest,
  ReleaseRequest,
  Spend,
  SpendRequest,
  Statement,
  StatementEntry,
} from './types.ts'

export type SpendingClientOptions = ClientOptions & { token: string }

export type StatementRequest = {
  customerId: string
  /** Both included. */
  from?: Date | string | undefined
  to?: Date | string | undefined
  kind?: EntryKind | readonly EntryKind[] | undefined
  /** Entries of a page, 1 to 1,000. 100. */
  limit?: number | undefined
  /** The `nextCursor` of the page before. */
  cursor?: string | undefined
}

export type SpendingClient = {
  /** The same reference spends once. */
  spendCredits(request: SpendRequest, options?: CallOptions): Promise<Spend>
  /** Holds credits for work whose price is known at its end. The same reference holds once. */
  holdCredits(request: HoldRequest, options?: CallOptions): Promise<Hold>
  /** Spends the held credits, or a part of them, and releases the rest. */
  captureHold(request: CaptureRequest, options?: CallOptions): Promise<EndedHold>
  /** Releases the held credits. */
  releaseHold(request: ReleaseRequest, options?: CallOptions): Promise<EndedHold>
  /** The budgets of a customer, and what is used of them. */
  getBudgets(request: { customerId: string }, options?: CallOptions): Promise<Budgets>
  /** One page, newest entry first. */
  getStatement(request: StatementRequest, options?: CallOptions): Promise<Statement>
  /** All pages, each requested when it is needed. A page can be empty and not be the last. */
  statementPages(request: StatementRequest, options?: CallOptions): AsyncGenerator<Statement, void, undefined>
  /** The entries of all pages. */
  statementEntries(request: StatementRequest, options?: CallOptions): AsyncGenerator<StatementEntry, void, undefined>
}

const holds = '/internal/v1/credits/holds'

export function createSpendingClient({ token, ...options }: SpendingClientOptions): SpendingClient {
  const value = `Bearer ${requireSecret('token', token)}`
  const settings = settingsOf(options, { name: 'token', header: 'authorization', value })

  async function getStatement(request: StatementRequest, callOptions?: CallOptions): Promise<Statement> {
    const { customerId, from, to, kind, limit, cursor } = request
    const query = queryOf({
      cursor,
      limit: limit?.toString(),
      from: timeOf(from),
      to: timeOf(to),
      kind: kind === undefined ? undefined : [kind].flat().join(','),
    })
    const path = `/internal/v1/customers/${segment('customerId', customerId)}/statement${query}`
    return send(settings, 'getStatement', { path }, callOptions)
  }

  async function* statementPages(request: StatementRequest, callOptions?: CallOptions) {
    let { cursor } = request
    do {
      const page = await getStatement({ ...request, cursor }, callOptions)
      yield page
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }

  return {
    spendCredits: (body, callOptions) =>
      send(settings, 'spendCredits', { path: '/internal/v1/credits/spend', body }, callOptions),

    holdCredits: (body, callOptions) => send(settings, 'holdCredits', { path: holds, body }, callOptions),

    async captureHold({ holdId, ...body }, callOptions) {
      return send(settings, 'captureHold', { path: `${holds}/${segment('holdId', holdId)}/capture`, body }, callOptions)
    },

    async releaseHold({ holdId, ...body }, callOptions) {
      return send(settings, 'releaseHold', { path: `${holds}/${segment('holdId', holdId)}/release`, body }, callOptions)
    },

    async getBudgets({ customerId }, callOptions) {
      const path = `/internal/v1/customers/${segment('customerId', customerId)}/budgets`
      return send(settings, 'getBudgets', { path }, callOptions)
    },

    getStatement,
    statementPages,

    async *statementEntries(request, callOptions) {
      for await (const { entries } of statementPages(request, callOptions)) yield* entries
    },
  }
}

function timeOf(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time
}
