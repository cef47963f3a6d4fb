// A status as a label on a colour. An unknown status is shown as it is.
import { Badge, type MantineColor } from '@mantine/core'
import type { FailureReason } from '../../../src/payments/failure-reasons.ts'
import { useWords } from '../words/words.tsx'

export type Tone = 'good' | 'waiting' | 'bad' | 'over' | 'calm'

const colorOf: Record<Tone, MantineColor> = { good: 'teal', waiting: 'yellow', bad: 'red', over: 'gray', calm: 'blue' }

/** Colours of bars and lines: a contrast of 3:1 in both colour schemes. */
export const drawnColorOf: Record<Tone, MantineColor> = {
  good: 'teal.7',
  waiting: 'yellow.8',
  bad: 'red.6',
  over: 'gray.6',
  calm: 'blue.6',
}

export const toneOf: Record<string, Tone> = {
  PENDING: 'waiting',
  CONFIRMED: 'good',
  FAILED: 'bad',
  EXPIRED: 'over',
  DECLINED: 'bad',
  CANCELLED: 'over',
  REFUNDED: 'calm',
  ACTIVE: 'good',
  SUSPENDED: 'over',
}

/** What a FAILED order is shown as: not paid in time, or refused. */
function failedAs(reason: FailureReason): 'EXPIRED' | 'DECLINED' {
  return reason === 'order-expired' || reason === 'payment-expired' ? 'EXPIRED' : 'DECLINED'
}

type Props = {
  status: string
  /** Why an order is FAILED. */
  failure?: FailureReason | null
  /** For a status that is not of an order, a key or an operator. */
  label?: string
  tone?: Tone
}

export function StatusBadge({ status, failure = null, label, tone }: Props) {
  const { statuses } = useWords().common
  const shown = failure === null ? status : failedAs(failure)
  return (
    <Badge
      variant="light"
      color={colorOf[tone ?? toneOf[shown] ?? 'calm']}
      radius="sm"
      tt="none"
      miw="max-content"
      data-status={status}
    >
      {label ?? statuses[shown as keyof typeof statuses] ?? shown}
    </Badge>
  )
}
