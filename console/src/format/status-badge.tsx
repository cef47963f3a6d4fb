// A status as a label on a colour. An unknown status is shown as it is.
import { Badge, type MantineColor } from '@mantine/core'
import { useWords } from '../words/words.tsx'

export type Tone = 'good' | 'waiting' | 'bad' | 'over' | 'calm'

const colorOf: Record<Tone, MantineColor> = { good: 'teal', waiting: 'yellow', bad: 'red', over: 'gray', calm: 'blue' }

const toneOf: Record<string, Tone> = {
  PENDING: 'waiting',
  CONFIRMED: 'good',
  FAILED: 'bad',
  CANCELLED: 'over',
  REFUNDED: 'calm',
  ACTIVE: 'good',
  SUSPENDED: 'over',
}

/** `label` and `tone` for a status that is not of an order, a key or an operator. */
export function StatusBadge({ status, label, tone }: { status: string; label?: string; tone?: Tone }) {
  const { statuses } = useWords().common
  return (
    <Badge
      variant="light"
      color={colorOf[tone ?? toneOf[status] ?? 'calm']}
      radius="sm"
      tt="none"
      miw="max-content"
      data-status={status}
    >
      {label ?? statuses[status as keyof typeof statuses] ?? status}
    </Badge>
  )
}
