// The results of actions on an order, with what to do next.
import { List, Text } from '@mantine/core'
import type { Data } from '../../../api/client.ts'
import { useFormats } from '../../../format/formats.ts'
import { StatusBadge } from '../../../format/status-badge.tsx'
import { useWords } from '../../../words/words.tsx'
import { Notice } from '../notice.tsx'
import { deliveryError } from '../timeline/delivery-error.ts'

type Settled = Data<'settleOrder'>

const tones: Record<Settled['result'], 'good' | 'waiting' | 'bad'> = {
  agrees: 'good',
  repaired: 'good',
  disagrees: 'bad',
  'under way': 'waiting',
  unknown: 'waiting',
}

export function SettleResult({ data: { result, status }, onClose }: { data: Settled; onClose(): void }) {
  const { settle } = useWords().orders
  const next = result === 'agrees' || result === 'repaired' ? settle[result][status] : settle.other[result]
  return (
    <Notice isOutcome title={settle.results[result]} tone={tones[result]} onClose={onClose}>
      <Text size="sm">{next}</Text>
      <Text size="sm" mt={4} component="div">
        {`${settle.status} `}
        <StatusBadge status={status} />
      </Text>
    </Notice>
  )
}

export function RefundedResult({ data, onClose }: { data: Data<'refundOrder'>; onClose(): void }) {
  const { refund } = useWords().orders
  const { number, won } = useFormats()
  return (
    <Notice isOutcome title={refund.done} tone="good" onClose={onClose}>
      <Text size="sm">{refund.doneText(won(data.refundedAmount), number(data.creditsTakenBack))}</Text>
      {data.shortfall > 0 && <Text size="sm">{refund.doneShortfall(number(data.shortfall))}</Text>}
    </Notice>
  )
}

export function RefundUnknownResult({ onClose }: { onClose(): void }) {
  const { refund } = useWords().orders
  return (
    <Notice isOutcome title={refund.unknown} tone="waiting" onClose={onClose}>
      <Text size="sm">{refund.unknownText}</Text>
    </Notice>
  )
}

export function ResendResult({ data, onClose }: { data: Data<'resendEvents'>; onClose(): void }) {
  const words = useWords()
  const { resend } = words.orders
  const { number } = useFormats()
  const { delivered, failed } = data
  const [deliveredText, failedText] = [number(delivered), number(failed.length)]
  const all = delivered > 0 ? resend.allDelivered(deliveredText) : resend.none
  return (
    <Notice
      isOutcome
      title={failed.length > 0 ? resend.someFailed(deliveredText, failedText) : all}
      tone={failed.length > 0 ? 'bad' : delivered > 0 ? 'good' : 'waiting'}
      onClose={onClose}
    >
      {failed.length > 0 && (
        <List size="sm" aria-label={resend.failedCaption}>
          {failed.map(({ endpointId, type, error }) => (
            <List.Item
              key={`${endpointId} ${type}`}
            >{`${endpointId}: ${type}, ${deliveryError(words, error)}`}</List.Item>
          ))}
        </List>
      )}
    </Notice>
  )
}
