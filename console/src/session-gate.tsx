// Who is signed in. Without anybody the sign-in page stands at whatever address was asked for. When a session ends later,
// signing in happens over the page, which keeps what was typed and shows nothing; whoever is somebody else begins with a fresh
// page.
import { Center, Modal, Stack, Title } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { idleMs } from '../../src/console/session/times.ts'
import { type ApiError, call, lastAnsweredAt, whenRefused, whenSignedOut } from './api/client.ts'
import { type Session, SessionContext } from './api/hooks.ts'
import { FirstPasswordPage } from './pages/sign-in/password.tsx'
import { SignInForm, SignInPage } from './pages/sign-in/sign-in.tsx'
import { Problem } from './parts/problem.tsx'
import { Waiting } from './parts/waiting.tsx'
import { announce } from './shell/announce.ts'
import { useWords } from './words/words.tsx'

/** A machine that was asleep knows no better how late it is. */
const lookEveryMs = 15_000

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

  useEndWatch(hasEnded ? undefined : data?.endsAt, ask)
  useWindowEvent('focus', ask)
  const askNow = useEffectEvent(() => void ask())
  useEffect(() => whenRefused(askNow), [])
  /** There was one: whoever comes without one finds the page to sign in. */
  const isOver = hasEnded && data !== undefined
  useEffect(() => {
    document.documentElement.toggleAttribute('data-session-ended', isOver)
  }, [isOver])

  function renew(session: Session): void {
    queries.setQueryData(['session'], session)
  }

  /** Of everything but the session: the page asks again for what it shows. */
  const others = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== 'session' }

  function enter(session: Session): void {
    const isAnother = session.name !== data?.name
    queries.setQueryData(['session'], session)
    setHasEnded(false)
    if (isAnother) queries.removeQueries(others)
    else void queries.invalidateQueries(others)
  }

  /** Somebody else may have signed in in another window, or this one may have another role by now. */
  async function ask(): Promise<void> {
    if (!data) return
    const session = await call('session', {}).catch(() => undefined)
    if (!session) return
    const isAsBefore = !hasEnded && session.name === data.name && session.role === data.role
    if (isAsBefore) renew(session)
    else enter(session)
  }

  async function signOut(): Promise<void> {
    const problem = await call('signOut', {}).catch((reason: ApiError) => reason)
    // Whoever is signed out already gets what they want.
    if (problem && problem.status !== 401) return announce(words.session.signOutFailed, 'bad')
    // A fresh load: nothing that was shown stays in the memory of the page.
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

/** Asks for the session when it has to be over: the answer says so. */
function useEndWatch(endsAt: string | undefined, ask: () => Promise<void>): void {
  const askNow = useEffectEvent(ask)
  useEffect(() => {
    if (endsAt === undefined) return
    const isDue = () =>
      Date.now() > lastAnsweredAt() + idleMs ||
      (Date.now() > Date.parse(endsAt) && lastAnsweredAt() < Date.parse(endsAt))
    const timer = setInterval(() => {
      if (isDue()) void askNow()
    }, lookEveryMs)
    return () => clearInterval(timer)
  }, [endsAt])
}
