// Signing in: the page, and the form alone for the dialog after a session has ended.
import { Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { type ApiError, call } from '../../api/client.ts'
import type { Session } from '../../api/hooks.ts'
import { Problem } from '../../parts/problem.tsx'
import { Preferences } from '../../shell/preferences.tsx'
import { useWords } from '../../words/words.tsx'

type SignInFormProps = { name?: string; onSignedIn(session: Session): void }

export function SignInPage({ onSignedIn }: Pick<SignInFormProps, 'onSignedIn'>) {
  const { common, session } = useWords()
  useDocumentTitle(`${session.title} · ${common.product}`)
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w="100%" maw={400}>
        <Stack gap="lg">
          <div>
            <Text size="sm" fw={600} c="dimmed">
              {common.product} · {common.console}
            </Text>
            <Title order={1} size="h2">
              {session.title}
            </Title>
            <Text size="sm" c="dimmed">
              {session.text}
            </Text>
          </div>
          <SignInForm onSignedIn={onSignedIn} />
          <Preferences />
        </Stack>
      </Paper>
    </Center>
  )
}

/** `name`: the operator of the session that has ended. */
export function SignInForm({ name, onSignedIn }: SignInFormProps) {
  const { session } = useWords()
  const { mutate, error, isPending } = useMutation<Session, ApiError, { name: string; password: string }>({
    mutationFn: (body) => call('signIn', { body }),
    onSuccess: onSignedIn,
  })

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const typed = new FormData(event.currentTarget)
    mutate({ name: String(typed.get('name')), password: String(typed.get('password')) })
  }

  const isWrong = error?.status === 401
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {name && <Text size="sm">{session.endedText}</Text>}
        <TextInput
          label={session.name}
          name="name"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          defaultValue={name}
          maxLength={100}
          required
          withAsterisk={false}
          data-autofocus={name ? undefined : true}
          autoFocus={!name}
        />
        <PasswordInput
          label={session.password}
          name="password"
          autoComplete="current-password"
          maxLength={200}
          required
          withAsterisk={false}
          data-autofocus={name ? true : undefined}
          error={isWrong ? session.wrong : null}
          errorProps={{ role: 'alert' }}
          aria-invalid={isWrong}
          visibilityToggleButtonProps={{ 'aria-label': session.showPassword }}
        />
        <Problem error={isWrong ? null : error} text={error?.pauseSeconds ? session.pause(error.pauseSeconds) : null} />
        <Button type="submit" loading={isPending} fullWidth>
          {session.action}
        </Button>
      </Stack>
    </form>
  )
}
