// React hooks for the API: a query, a paged list, an action, and the session. After an action everything it affects is fetched
// again.
import { useIdle } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, use, useRef } from 'react'
import type { ConsoleRefusal } from '../../../src/console/refusals.ts'
import { may, type Permission } from '../../../src/operators/permissions.ts'
import { ApiError, call, type Data, type EndpointName, type Input } from './client.ts'

/** Without input for this long, polling stops; otherwise a session would never end. */
const unattendedMs = 5 * 60_000

export type Polling<Found> = {
  /** Fetches again after this time, while the page is visible and in use. */
  refetchMs?: number
  /** Stops once this holds, or after an error. */
  until?(found: Found): boolean
}

export type EndpointOptions<Found> = Polling<Found> & {
  enabled?: boolean
  /** Shows the last data while other input is loading: for another view of the same thing, never for another thing. */
  keepLast?: boolean
  /** Fetched whenever it is shown and never in the background: data does not change while an operator decides on it. */
  isForDecision?: boolean
}

const forDecision = { staleTime: 0, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false } as const

/** The polling interval; false: no polling. */
function usePollingInterval<Found>({ refetchMs, until }: Polling<Found>) {
  const isUnattended = useIdle(unattendedMs, { initialState: false })
  return (found: Found | undefined, hasFailed: boolean): number | false => {
    if (!refetchMs || isUnattended) return false
    return until && (hasFailed || (found !== undefined && until(found))) ? false : refetchMs
  }
}

export function useEndpoint<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  options: EndpointOptions<Data<Name>> = {},
) {
  const { enabled = true, keepLast = false, isForDecision = false } = options
  const intervalMs = usePollingInterval(options)
  return useQuery<Data<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    enabled,
    refetchInterval: ({ state: { data, status } }) => intervalMs(data, status === 'error'),
    ...(keepLast && { placeholderData: keepPreviousData }),
    ...(isForDecision && forDecision),
  })
}

/** Endpoints with pagination. */
export type PagedName = {
  [Name in EndpointName]: Data<Name> extends { nextCursor: unknown } ? Name : never
}[EndpointName]

export type Pages<Row> = {
  rows: Row[]
  more(): void
  hasMore: boolean
  isLoading: boolean
  isLoadingMore: boolean
  error: ApiError | null
}

export function usePages<Name extends PagedName, Row>(
  name: Name,
  input: Input<Name>,
  pick: (data: Data<Name>) => Row[],
  polling: Polling<Row[]> = {},
): Pages<Row> & { first: Data<Name> | undefined } {
  const intervalMs = usePollingInterval(polling)
  const { query, ...rest } = input as { query?: object }
  const found = useInfiniteQuery<Data<Name>, ApiError, { pages: Data<Name>[] }, unknown[], string | undefined>({
    queryKey: [name, 'pages', input],
    queryFn: ({ pageParam, signal }) =>
      call(name, { ...rest, query: { ...query, cursor: pageParam } } as unknown as Input<Name>, signal),
    refetchInterval: ({ state: { data, status } }) => intervalMs(data?.pages.flatMap(pick), status === 'error'),
    initialPageParam: undefined,
    getNextPageParam: (last) => (last as { nextCursor: string | null }).nextCursor ?? undefined,
  })
  return {
    first: found.data?.pages[0],
    rows: found.data?.pages.flatMap(pick) ?? [],
    more: () => void found.fetchNextPage(),
    hasMore: found.hasNextPage,
    isLoading: found.isLoading,
    isLoadingMore: found.isFetchingNextPage,
    error: found.error,
  }
}

export type Action<Name extends EndpointName> = {
  /** The result; undefined: it failed, see `error`, or it is already running. */
  run(input: Input<Name>): Promise<Data<Name> | undefined>
  isRunning: boolean
  error: ApiError | null
  reset(): void
}

export function useAction<Name extends EndpointName>(
  name: Name,
  {
    done,
    failed,
    refreshes,
  }: { done?(data: Data<Name>): void; failed?(error: ApiError): void; refreshes: EndpointName[] },
): Action<Name> {
  const refreshNames = useRefresh()
  const refresh = () => refreshNames(refreshes)
  // A ref changes at once, state with the next render: a form can be submitted twice before that.
  const isRunning = useRef(false)
  const mutation = useMutation<Data<Name>, ApiError, Input<Name>>({
    mutationFn: (input) => call(name, input),
    // The result may contain a secret: nothing of it stays in the cache.
    gcTime: 0,
    onSuccess: async (data) => {
      await refresh()
      done?.(data)
    },
    onError: async (error) => {
      if (mayHaveHappened(error) || isStateOutdated(error)) await refresh()
      failed?.(error)
    },
  })
  async function run(input: Input<Name>): Promise<Data<Name> | undefined> {
    if (isRunning.current) return undefined
    isRunning.current = true
    try {
      return await mutation.mutateAsync(input).catch(() => undefined)
    } finally {
      isRunning.current = false
    }
  }
  return {
    run,
    isRunning: mutation.isPending,
    error: mutation.error,
    reset: mutation.reset,
  }
}

/** Fetches the shown data of these endpoints again. */
export function useRefresh(): (names: EndpointName[]) => Promise<void> {
  const queries = useQueryClient()
  return async (names) => {
    await Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name] })))
  }
}

/** Refusals caused by a state that the page does not show yet. */
const outdatedReasons: (string | null)[] = [
  'resolved',
  'open',
  'not confirmed',
  'refunded already',
  'nothing left',
  'below the smallest amount',
  'credits held',
  'changed',
  'not partly cancelled',
  'not a part',
  'accepted otherwise',
  'requested already',
  'suspended key',
  'too many budgets',
  'refused by the gateway',
] satisfies ConsoleRefusal[]

/** The outcome of the action is unknown: it was neither done nor refused for certain. */
export function mayHaveHappened({ status, isBeforeBeginning }: ApiError): boolean {
  return status === 0 || (status >= 500 && !isBeforeBeginning)
}

/** Another operator was faster, or the gateway declined: the page shows an old state. */
export function isStateOutdated({ reason }: ApiError): boolean {
  return outdatedReasons.includes(reason)
}

/** A refusal is not retried; a failure is. */
export function isWorthRetrying(failures: number, error: unknown): boolean {
  return failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500)
}

export type Session = Data<'session'>
type SessionValue = { session: Session; renew(session: Session): void; signOut(): Promise<void> }

export const SessionContext = createContext<SessionValue | null>(null)

function useSessionContext(): SessionValue {
  const value = use(SessionContext)
  if (!value) throw new Error('SessionContext is missing: this component needs a signed-in operator.')
  return value
}

export function useSession(): Session {
  return useSessionContext().session
}

export function useSignOut(): () => Promise<void> {
  return useSessionContext().signOut
}

export function useRenewSession(): (session: Session) => void {
  return useSessionContext().renew
}

/** For hiding buttons that would be refused; the service enforces the permission. */
export function useMay(permission: Permission): boolean {
  return may(useSession().role, permission)
}
