// Asks for the reason of an action and runs it: every action of the console needs one. The dialog keeps its input until the action
// has succeeded, and opens empty each time.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { type FormEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import type { ApiError, Data, EndpointName, Input } from '../api/client.ts'
import { type Action, useAction } from '../api/hooks.ts'
import { useWords } from '../words/words.tsx'
import { Problem } from './problem.tsx'
import { isAcceptableReason, ReasonField } from './reason-field.tsx'

export type ReasonDialogProps<Name extends EndpointName> = {
  opened?: boolean
  onClose(): void
  title: string
  text?: ReactNode
  /** The label of the button. */
  action: string
  /** Shown in red. */
  isDestructive?: boolean
  /** Disables the button while other input is invalid. */
  isBlocked?: boolean
  endpoint: Name
  inputOf(reason: string): Input<Name>
  refreshes: EndpointName[]
  onDone?(data: Data<Name>): void
  /** A text of the page for this error; null: the default text. */
  problemOf?(error: ApiError): string | null
  /** Where the focus starts: in the reason, or in the first field of the content above it. */
  focus?: 'reason' | 'first'
  /** Further content above the reason. */
  children?: ReactNode
}

export function ReasonDialog<Name extends EndpointName>(props: ReasonDialogProps<Name>) {
  const { opened = true, title } = props
  const running = useAction(props.endpoint, { refreshes: props.refreshes })
  const openings = useOpenings(opened)
  const words = useWords()

  function close(): void {
    if (running.isRunning) return
    running.reset()
    props.onClose()
  }

  return (
    <Modal opened={opened} onClose={close} title={title} closeButtonProps={{ 'aria-label': words.common.close }}>
      <ReasonForm key={openings} {...props} running={running} onCancel={close} />
    </Modal>
  )
}

/** Counts how often it was opened, as a key: it may open again while it is still fading out. */
export function useOpenings(opened: boolean): number {
  const [seen, setSeen] = useState({ opened, openings: 0 })
  if (seen.opened !== opened) setSeen({ opened, openings: seen.openings + (opened ? 1 : 0) })
  return seen.openings
}

type FormProps<Name extends EndpointName> = ReasonDialogProps<Name> & { running: Action<Name>; onCancel(): void }

function ReasonForm<Name extends EndpointName>(props: FormProps<Name>) {
  const {
    onClose,
    onCancel,
    text,
    action,
    isDestructive = false,
    isBlocked = false,
    focus = 'reason',
    children,
  } = props
  const { run, isRunning, error, reset } = props.running
  const words = useWords()
  const [reason, setReason] = useState('')
  const [showsError, setShowsError] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  // The dialog focuses the first element with this mark, which the reason has.
  useLayoutEffect(() => {
    if (focus === 'first') form.current?.querySelector('input, select, textarea')?.setAttribute('data-autofocus', '')
  }, [focus])

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setShowsError(true)
    if (!isAcceptableReason(reason) || isBlocked) return
    const data = await run(props.inputOf(reason.trim()))
    if (data === undefined) return
    // A secret in the result is not kept here.
    reset()
    onClose()
    props.onDone?.(data)
  }

  return (
    <form onSubmit={submit} noValidate ref={form}>
      <Stack gap="sm">
        {text && (
          <Text size="sm" component="div">
            {text}
          </Text>
        )}
        {children}
        <ReasonField value={reason} onChange={setReason} showsError={showsError} />
        <Problem error={error} text={error && props.problemOf?.(error)} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel} disabled={isRunning}>
            {words.common.cancel}
          </Button>
          <Button type="submit" color={isDestructive ? 'red' : undefined} loading={isRunning} disabled={isBlocked}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
