// Changing the own password: a page, and the only page for an operator with a first password.
import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { useAction, useRenewSession, useSession, useSignOut } from '../../api/hooks.ts'
import { Problem } from '../../parts/problem.tsx'
import { announce } from '../../shell/announce.ts'
import { PageHeader } from '../../shell/page-header.tsx'
import { Preferences } from '../../shell/preferences.tsx'
import { useWords } from '../../words/words.tsx'

const shortest = 12

export function PasswordPage() {
  const { session } = useWords()
  return (
    <>
      <PageHeader title={session.passwordTitle} />
      <Paper withBorder p="md" maw={440}>
        <PasswordForm />
      </Paper>
    </>
  )
}

export function FirstPasswordPage() {
  const { common, session } = useWords()
  const signOut = useSignOut()
  useDocumentTitle(`${session.passwordTitle} · ${common.product}`)
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w="100%" maw={440}>
        <Stack gap="md">
          <Title order={1} size="h2">
            {session.passwordTitle}
          </Title>
          <Text size="sm">{session.firstText}</Text>
          <PasswordForm />
          <Button variant="default" onClick={signOut}>
            {common.signOut}
          </Button>
          <Preferences />
        </Stack>
      </Paper>
    </Center>
  )
}

type Typed = { current: string; next: string; again: string }
const nothing: Typed = { current: '', next: '', again: '' }

function PasswordForm() {
  const { session } = useWords()
  const { name } = useSession()
  const renew = useRenewSession()
  const [typed, setTyped] = useState(nothing)
  const [showsError, setShowsError] = useState(false)
  const { run, isRunning, error } = useAction('changePassword', { refreshes: [] })
  const isCurrentWrong = error?.fields.some(({ field }) => field === 'current') ?? false

  const faults: Partial<Typed> = {
    ...(typed.next.length < shortest && { next: session.tooShort }),
    ...(typed.next === typed.current && { next: session.sameAsBefore }),
    ...(typed.next !== typed.again && { again: session.different }),
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setShowsError(true)
    if (Object.keys(faults).length > 0) return
    const renewed = await run({ body: { current: typed.current, next: typed.next } })
    if (!renewed) return
    setTyped(nothing)
    setShowsError(false)
    announce(session.saved)
    renew(renewed)
  }

  const faultOf = (of: keyof Typed) =>
    (showsError && faults[of]) || (of === 'current' && isCurrentWrong && session.wrongCurrent) || null

  const field = (of: keyof Typed) => ({
    label: session[of],
    value: typed[of],
    maxLength: 200,
    required: true,
    withAsterisk: false,
    error: faultOf(of),
    errorProps: { role: 'alert' },
    'aria-invalid': faultOf(of) !== null,
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setTyped((before) => ({ ...before, [of]: value })),
    visibilityToggleButtonProps: { 'aria-label': session.showPassword },
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {/* The user name for password managers. */}
        <input type="text" name="name" autoComplete="username" value={name} readOnly hidden />
        <PasswordInput {...field('current')} autoComplete="current-password" />
        <PasswordInput {...field('next')} description={session.nextHint} autoComplete="new-password" />
        <PasswordInput {...field('again')} autoComplete="new-password" />
        <Problem
          error={isCurrentWrong ? null : error}
          text={error?.pauseSeconds ? session.pause(error.pauseSeconds) : null}
        />
        <Button type="submit" loading={isRunning}>
          {session.save}
        </Button>
      </Stack>
    </form>
  )
}
