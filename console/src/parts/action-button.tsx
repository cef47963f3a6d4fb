// An action, or why it is not possible now. There is no button if the role lacks the permission.
import { Button, Stack, Text } from '@mantine/core'
import { useId } from 'react'

type Props = {
  label: string
  isMain: boolean
  /** Whether the role has the permission. */
  isPermitted: boolean
  /** Why it is not possible now; undefined: it is. */
  why: string | undefined
  onClick(): void
}

export function ActionButton({ label, isMain, isPermitted, why, onClick }: Props) {
  const whyId = useId()
  return (
    <Stack gap={4} maw={260} align="flex-start">
      {isPermitted ? (
        <Button
          variant={isMain ? 'filled' : 'default'}
          onClick={onClick}
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
