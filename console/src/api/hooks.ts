// The ways a page asks and acts: a query, a list that goes on, an action, and who is asking. What an action changed is
// asked for anew.
import { useIdle } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, use, useRef } from 'react'
import type { ConsoleRefusal } from '../../../src/console/refusals.ts'
import { may, type Permission } from '../../../src/operators/permissions.ts'
import { ApiError, call, type Data, type EndpointName, type Input } from './client.ts'

/** Nobody sits there: what refreshes by itself stops, or a session would never end. */
const unattendedMs = 5 * 60_000

export type Following<Found> = {
  /** Asks again after this time, while the page is seen and somebody is at it. */
  refetchMs?: number
  /** Asks no more once this holds, or once asking has failed. */
  until?(found: Found): boolean
}

export type EndpointOptions<Found> = Following<Found> & {
  enabled?: boolean
  /** Shows the last answer while another is on its way: for the same thing seen otherwise, never for another thing. */
  keepLast?: boolean
  /** Asked for anew whenever it is shown, and not by itself: what somebody decides on stays under their eyes as it is. */
  isForDecision?: boolean
}

const forDecision = { staleTime: 0, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false } as const

/** When to ask again; false: not by itself. */
function useAskingAgain<Found>({ refetchMs, until }: Following<Found>) {
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
  const againMs = useAskingAgain(options)
  return useQuery<Data<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    enabled,
    refetchInterval: ({ state: { data, status } }) => againMs(data, status === 'error'),
    ...(keepLast && { placeholderData: keepPreviousData }),
    ...(isForDecision && forDecision),
  })
}

/** Endpoints that answer in pages. */
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
  following: Following<Row[]> = {},
): Pages<Row> {
  const againMs = useAskingAgain(following)
  const asked = input as { query?: object }
  const found = useInfiniteQuery<Data<Name>, ApiError, { pages: Data<Name>[] }, unknown[], string | undefined>({
    queryKey: [name, 'pages', input],
    queryFn: ({ pageParam, signal }) =>
      call(name, { ...asked, query: { ...asked.query, cursor: pageParam } } as unknown as Input<Name>, signal),
    refetchInterval: ({ state: { data, status } }) => againMs(data?.pages.flatMap(pick), status === 'error'),
    initialPageParam: undefined,
    getNextPageParam: (last) => (last as { nextCursor: string | null }).nextCursor ?? undefined,
  })
  return {
    rows: found.data?.pages.flatMap(pick) ?? [],
    more: () => void found.fetchNextPage(),
    hasMore: found.hasNextPage,
    isLoading: found.isLoading,
    isLoadingMore: found.isFetchingNextPage,
    error: found.error,
  }
}

export type Action<Name extends EndpointName> = {
  /** What came of it; undefined: it failed, and `error` says how, or it is under way already. */
  run(input: Input<Name>): Promise<Data<Name> | undefined>
  isRunning: boolean
  error: ApiError | null
  reset(): void
}

export function useAction<Name extends EndpointName>(
  name: Name,
  { done, refreshes }: { done?(data: Data<Name>): void; refreshes: EndpointName[] },
): Action<Name> {
  const refreshNames = useRefresh()
  const refresh = () => refreshNames(refreshes)
  // At once, where what is drawn comes a moment later: a form can be sent twice before.
  const isUnderWay = useRef(false)
  const mutation = useMutation<Data<Name>, ApiError, Input<Name>>({
    mutationFn: (input) => call(name, input),
    // An answer may have a secret in it: once it was shown, nothing of it stays.
    gcTime: 0,
    onSuccess: async (data) => {
      await refresh()
      done?.(data)
    },
    // What is there is seen by looking.
    onError: (error) => (mayHaveHappened(error) || isOfAnotherState(error) ? refresh() : undefined),
  })
  async function run(input: Input<Name>): Promise<Data<Name> | undefined> {
    if (isUnderWay.current) return undefined
    isUnderWay.current = true
    try {
      return await mutation.mutateAsync(input).catch(() => undefined)
    } finally {
      isUnderWay.current = false
    }
  }
  return {
    run,
    isRunning: mutation.isPending,
    error: mutation.error,
    reset: mutation.reset,
  }
}

/** Has what is shown of these endpoints asked for anew. */
export function useRefresh(): (names: EndpointName[]) => Promise<void> {
  const queries = useQueryClient()
  return async (names) => {
    await Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name] })))
  }
}

/** Refusals of what is busy that come before anything is begun. */
const beforeAll: (string | null)[] = ['console busy', 'other days', 'open'] satisfies ConsoleRefusal[]
/** Refusals that tell of a state which the page does not show yet. */
const ofAnotherState: (string | null)[] = [
  'resolved',
  'open',
  'not confirmed',
  'suspended key',
  'refused by the gateway',
] satisfies ConsoleRefusal[]

/** Nobody has told how it ended: neither that it is done nor that it was refused. */
export function mayHaveHappened({ status, reason }: ApiError): boolean {
  return status === 0 || (status >= 500 && !beforeAll.includes(reason))
}

/** Somebody else was faster, or the gateway said no: what is shown is from before. */
export function isOfAnotherState({ reason }: ApiError): boolean {
  return ofAnotherState.includes(reason)
}

/** Whether asking again may help: what was refused stays refused. */
export function isWorthRetrying(failures: number, error: unknown): boolean {
  return failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500)
}

export type Session = Data<'session'>
type Held = { session: Session; renew(session: Session): void; signOut(): Promise<void> }

export const SessionContext = createContext<Held | null>(null)

function useHeld(): Held {
  const held = use(SessionContext)
  if (!held) throw new Error('This is for those who are signed in.')
  return held
}

export function useSession(): Session {
  return useHeld().session
}

export function useSignOut(): () => Promise<void> {
  return useHeld().signOut
}

export function useRenewSession(): (session: Session) => void {
  return useHeld().renew
}

/** Shows no button that would be refused; the service decides. */
export function useMay(permission: Permission): boolean {
  return may(useSession().role, permission)
}
