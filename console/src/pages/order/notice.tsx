// A notice with a heading and a coloured edge. The outcome of an action takes the focus, so that screen readers read it and the
// focus is not lost with the button of the action.
import { CloseButton, Group, Paper, Text } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { focusAfterMs } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import classes from './notice.module.css'

type Props = {
  title: string
  tone: 'good' | 'waiting' | 'bad'
  /** The outcome of an action takes the focus. */
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
