// Something to know, with what to do about it: a heading, a colour at the side that says how bad it is, and where it is
// the outcome of an action, the focus, so that it is heard at once and nobody is left on a button that is gone.
import { CloseButton, Group, Paper, Text } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { focusAfterMs } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import classes from './notice.module.css'

type Props = {
  title: string
  tone: 'good' | 'waiting' | 'bad'
  /** What came of an action: it takes the focus. */
  isOutcome?: boolean
  onClose?(): void
  children?: ReactNode
}

export function Notice({ title, tone, isOutcome = false, onClose, children }: Props) {
  const { common } = useWords()
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isOutcome) return undefined
    const timer = window.setTimeout(() => frame.current?.focus(), focusAfterMs)
    return () => window.clearTimeout(timer)
  }, [isOutcome])
  return (
    <Paper
      ref={frame}
      withBorder
      p="md"
      className={classes.notice}
      data-tone={tone}
      role={isOutcome ? 'status' : 'group'}
      aria-label={title}
      tabIndex={isOutcome ? -1 : undefined}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb={4}>
        <Text fw={650}>{title}</Text>
        {onClose && <CloseButton size="sm" aria-label={common.close} onClick={onClose} />}
      </Group>
      {children}
    </Paper>
  )
}
