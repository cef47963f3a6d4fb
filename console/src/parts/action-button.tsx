// One thing that can be done, or why it cannot be done now. No button for what the role would be refused.
import { Button, Stack, Text } from '@mantine/core'
import { useId } from 'react'

type Props = {
  label: string
  isMain: boolean
  /** Whether somebody with this role does it at all. */
  isTheirs: boolean
  /** Undefined when it can be done. */
  why: string | undefined
  onAsk(): void
}

export function ActionButton({ label, isMain, isTheirs, why, onAsk }: Props) {
  const whyId = useId()
  return (
    <Stack gap={4} maw={260} align="flex-start">
      {isTheirs ? (
        <Button
          variant={isMain ? 'filled' : 'default'}
          onClick={onAsk}
          disabled={why !== undefined}
          aria-describedby={why === undefined ? undefined : whyId}
        >
          {label}
        </Button>
      ) : (
        <Text fw={500}>{label}</Text>
      )}
      {why !== undefined && (
        <Text id={whyId} size="xs" c="dimmed">
          {why}
        </Text>
      )}
    </Stack>
  )
}
