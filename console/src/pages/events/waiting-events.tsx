// The customers with events that wait for an endpoint, with the last error and the next attempt.
import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Data } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { deliveryError } from '../order/timeline/delivery-error.ts'
import { CustomerLink } from './attempts.tsx'
import { refreshedByEndpoint } from './endpoint-actions.tsx'

type Endpoint = Data<'eventEndpoint'>
type Queue = Endpoint['queues'][number]

export function WaitingEvents({ endpoint }: { endpoint: Endpoint }) {
  const words = useWords()
  const { waiting, done } = words.events
  const { columns: headers } = waiting
  const { number } = useFormats()
  const mayRetry = useMay('resend events')
  const [chosen, setChosen] = useState<Queue | null>(null)
  const { frame, keepFocus } = useKeptFocus()
  const { endpointId, status, queues, waitingCustomers } = endpoint
  const isActive = status === 'ACTIVE'
  const nameOf = ({ customerName, customerId }: Queue) => customerName ?? customerId
  const columns: Column<Queue>[] = [
    { header: headers.customer, place: 'title', cell: (queue) => <CustomerLink {...queue} /> },
    { header: headers.events, align: 'right', place: 'amount', cell: ({ events }) => number(events) },
    { header: headers.first, align: 'right', place: 'folded', cell: ({ nextEvent }) => number(nextEvent) },
    { header: headers.attempts, align: 'right', cell: ({ attempts }) => number(attempts) },
    { header: headers.error, cell: ({ error }) => error && deliveryError(words, error) },
    {
      header: headers.next,
      cell: ({ nextTryAt }) => (isActive ? <Time at={nextTryAt} /> : waiting.whenEnabled),
    },
    ...(mayRetry && isActive
      ? [
          {
            header: headers.actions,
            cell: (queue: Queue) => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={waiting.retryOf(nameOf(queue))}
                onClick={() => setChosen(queue)}
              >
                {waiting.retry}
              </Button>
            ),
          },
        ]
      : []),
  ]
  return (
    <Stack gap="sm" ref={frame} tabIndex={-1} role="group" aria-label={waiting.caption} style={{ outline: 'none' }}>
      <DataTable
        caption={waiting.caption}
        columns={columns}
        rows={queues}
        keyOf={({ customerId }) => customerId}
        empty={waiting.none}
      />
      {queues.length < waitingCustomers && (
        <Text size="sm" c="dimmed">
          {waiting.more(number(queues.length), number(waitingCustomers))}
        </Text>
      )}
      {chosen && (
        <ReasonDialog
          onClose={() => setChosen(null)}
          title={waiting.retryOf(nameOf(chosen))}
          text={waiting.retryText}
          action={words.events.acts.retryEndpoint.action}
          endpoint="retryEndpoint"
          inputOf={(reason) => ({ params: { endpointId }, body: { customerId: chosen.customerId, reason } })}
          refreshes={refreshedByEndpoint}
          onDone={({ customers }) => {
            announce(customers > 0 ? done.retried(number(customers)) : done.nothingWaits)
            keepFocus()
          }}
        />
      )}
    </Stack>
  )
}
