// A time with its label, on one line.
import { Group, Text } from '@mantine/core'
import { Time } from '../format/time.tsx'

export function LabelledTime({ label, at }: { label: string; at: string }) {
  return (
    <Group gap="xs" style={{ rowGap: 0 }}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="sm" span>
        <Time at={at} />
      </Text>
    </Group>
  )
}
