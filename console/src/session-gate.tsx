// The session. Without one the sign-in page is shown at any address. When a session ends later, a sign-in dialog covers the page,
// which is hidden and keeps its input; another operator gets a fresh page.
import { Center, Modal, Stack, Title } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { sessionIdleMs } from '../../src/console/session/times.ts'
import { type ApiError, call, lastAnsweredAt, whenRefused, whenSignedOut } from './api/client.ts'
import { type Session, SessionContext } from './api/hooks.ts'
import { FirstPasswordPage } from './pages/sign-in/password.tsx'
import { SignInForm, SignInPage } from './pages/sign-in/sign-in.tsx'
import { Problem } from './parts/problem.tsx'
import { Waiting } from './parts/waiting.tsx'
import { announce } from './shell/announce.ts'
import { useWords } from './words/words.tsx'

/** An interval, because a long timer is late on a computer that was asleep. */
const checkEveryMs = 15_000

export function SessionGate({ children }: { children: ReactNode }) {
  const words = useWords()
  const queries = useQueryClient()
  const [hasEnded, setHasEnded] = useState(false)
  useEffect(() => whenSignedOut(() => setHasEnded(true)), [])
  const { data, error, refetch } = useQuery<Session, ApiError>({
    queryKey: ['session'],
    queryFn: ({ signal }) => call('session', {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })

  useEndWatch(hasEnded ? undefined : data?.endsAt, check)
  useWindowEvent('focus', check)
  const checkNow = useEffectEvent(() => void check())
  useEffect(() => whenRefused(checkNow), [])
  /** Only if there was a session; without one the sign-in page is shown. */
  const isOver = hasEnded && data !== undefined
  useEffect(() => {
    document.documentElement.toggleAttribute('data-session-ended', isOver)
  }, [isOver])

  function renew(session: Session): void {
    queries.setQueryData(['session'], session)
  }

  /** Every query but the session. */
  const others = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== 'session' }

  function enter(session: Session): void {
    const isAnother = session.name !== data?.name
    queries.setQueryData(['session'], session)
    setHasEnded(false)
    if (isAnother) queries.removeQueries(others)
    else void queries.invalidateQueries(others)
  }

  /** Another operator may have signed in in another window, or the role may have changed. */
  async function check(): Promise<void> {
    if (!data) return
    const session = await call('session', {}).catch(() => undefined)
    if (!session) return
    const isAsBefore = !hasEnded && session.name === data.name && session.role === data.role
    if (isAsBefore) renew(session)
    else enter(session)
  }

  async function signOut(): Promise<void> {
    const problem = await call('signOut', {}).catch((reason: ApiError) => reason)
    // 401: already signed out.
    if (problem && problem.status !== 401) return announce(words.session.signOutFailed, 'bad')
    // A reload, so that nothing stays in memory.
    window.location.assign('/console/')
  }

  if (!data) {
    if (error?.status === 401) return <SignInPage onSignedIn={enter} />
    if (!error) return <Waiting />
    return (
      <Center component="main" mih="100dvh" p="md">
        <Stack>
          <Title order={1} size="h3">
            {words.common.product}
          </Title>
          <Problem error={error} onRetry={() => void refetch()} />
        </Stack>
      </Center>
    )
  }
  return (
    <SessionContext value={{ session: data, renew, signOut }}>
      {data.mustChangePassword ? <FirstPasswordPage /> : <Fragment key={data.name}>{children}</Fragment>}
      <Modal
        opened={isOver}
        onClose={() => undefined}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        zIndex={1000}
        className="shown-when-ended"
        title={words.session.ended}
        centered
      >
        <SignInForm name={data.name} onSignedIn={enter} />
      </Modal>
    </SessionContext>
  )
}

/** Checks the session when it should be over. */
function useEndWatch(endsAt: string | undefined, check: () => Promise<void>): void {
  const checkNow = useEffectEvent(check)
  useEffect(() => {
    if (endsAt === undefined) return
    const isDue = () =>
      Date.now() > lastAnsweredAt() + sessionIdleMs ||
      (Date.now() > Date.parse(endsAt) && lastAnsweredAt() < Date.parse(endsAt))
    const timer = setInterval(() => {
      if (isDue()) void checkNow()
    }, checkEveryMs)
    return () => clearInterval(timer)
  }, [endsAt])
}
