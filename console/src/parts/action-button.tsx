// An action, or a disabled button and why it is not possible now: the role lacks the permission, or the state does not allow it.
import { Button, Stack, Text } from '@mantine/core'
import { useId } from 'react'

type Props = {
  label: string
  isMain: boolean
  /** Why it is not possible now; undefined: it is. */
  why: string | undefined
  onClick(): void
}

export function ActionButton({ label, isMain, why, onClick }: Props) {
  const whyId = useId()
  return (
    <Stack gap={4} maw={260} align="flex-start">
      <Button
        variant={isMain ? 'filled' : 'default'}
        onClick={onClick}
        disabled={why !== undefined}
        aria-describedby={why === undefined ? undefined : whyId}
      >
        {label}
      </Button>
      {why !== undefined && (
        <Text id={whyId} size="xs" c="dimmed">
          {why}
        </Text>
      )}
    </Stack>
  )
}
