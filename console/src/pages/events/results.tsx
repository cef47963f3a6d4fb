// The results of a test event and of resending dead events.
import { List, Text } from '@mantine/core'
import type { Data } from '../../api/client.ts'
import { useFormats } from '../../format/formats.ts'
import { useWords } from '../../words/words.tsx'
import { Notice } from '../order/notice.tsx'
import { deliveryError } from '../order/timeline/delivery-error.ts'

export function TestResult({ data, onClose }: { data: Data<'testEndpoint'>; onClose(): void }) {
  const words = useWords()
  const { test, took } = words.events
  const { number } = useFormats()
  const { accepted, status, error, tookMs } = data
  const duration = took(number(tookMs))
  return (
    <Notice
      isOutcome
      title={accepted ? test.accepted : test.refused}
      tone={accepted ? 'good' : 'bad'}
      onClose={onClose}
    >
      <Text size="sm">
        {status === null
          ? test.failed(deliveryError(words, error ?? ''), duration)
          : test.answered(`${status}`, duration)}
      </Text>
    </Notice>
  )
}

export function ResendDeadResult({ data, onClose }: { data: Data<'resendDead'>; onClose(): void }) {
  const words = useWords()
  const { dead, attempts } = words.events
  const { number } = useFormats()
  const { resent, left, failed, errors } = data
  return (
    <Notice
      isOutcome
      title={failed > 0 ? dead.someFailed(number(resent), number(failed)) : dead.sent(number(resent))}
      tone={failed > 0 ? 'bad' : left > 0 ? 'waiting' : 'good'}
      onClose={onClose}
    >
      {left > 0 && <Text size="sm">{dead.left(number(left))}</Text>}
      {errors.length > 0 && (
        <List size="sm" aria-label={dead.failedCaption}>
          {errors.map(({ customerId, eventNumber, type, error }) => (
            <List.Item key={`${customerId} ${eventNumber}`}>
              {`${attempts.event(type, number(eventNumber))}: ${deliveryError(words, error)}`}
            </List.Item>
          ))}
        </List>
      )}
    </Notice>
  )
}
