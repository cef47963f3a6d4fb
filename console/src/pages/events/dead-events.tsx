// The dead events of an endpoint, which can be sent again: one, or all of them.
import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useMay, usePages } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id, InsideLink } from '../../format/id.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { useWords } from '../../words/words.tsx'
import { deliveryError } from '../order/timeline/delivery-error.ts'
import { CustomerLink } from './attempts.tsx'
import { refreshedByEndpoint } from './endpoint-actions.tsx'
import { ResendDeadResult } from './results.tsx'

type Dead = Data<'deadEvents'>['dead'][number]

export function DeadEvents({ endpoint }: { endpoint: Data<'eventEndpoint'> }) {
  const words = useWords()
  const { dead: texts, attempts } = words.events
  const { columns: headers } = texts
  const { number } = useFormats()
  const mayResend = useMay('resend events')
  const { endpointId, deadEvents } = endpoint
  const pages = usePages('deadEvents', { params: { endpointId } }, (data) => data.dead)
  const [chosen, setChosen] = useState<Dead | 'all' | null>(null)
  const [result, setResult] = useState<Data<'resendDead'> | null>(null)
  const nameOf = ({ type, eventNumber }: Dead) => attempts.event(type, number(eventNumber))
  const columns: Column<Dead>[] = [
    { header: headers.event, place: 'title', cell: nameOf },
    { header: headers.order, cell: ({ orderId }) => orderId && <OrderLink orderId={orderId} /> },
    { header: headers.customer, cell: (dead) => <CustomerLink {...dead} /> },
    { header: headers.attempts, align: 'right', cell: ({ attempts: count }) => number(count) },
    { header: headers.error, cell: ({ error }) => deliveryError(words, error) },
    { header: headers.died, cell: ({ diedAt }) => <Time at={diedAt} /> },
    ...(mayResend
      ? [
          {
            header: headers.actions,
            cell: (dead: Dead) => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={texts.resendOf(nameOf(dead))}
                onClick={() => setChosen(dead)}
              >
                {texts.resend}
              </Button>
            ),
          },
        ]
      : []),
  ]
  const isOne = chosen !== null && chosen !== 'all'
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {texts.intro}
      </Text>
      {mayResend && deadEvents > 0 && (
        <Group>
          <Button onClick={() => setChosen('all')}>{texts.resendAll(number(deadEvents))}</Button>
        </Group>
      )}
      {result && <ResendDeadResult data={result} onClose={() => setResult(null)} />}
      <DataTable
        caption={texts.caption}
        columns={columns}
        rows={pages.rows}
        keyOf={({ customerId, eventNumber }) => `${customerId} ${eventNumber}`}
        pages={pages}
        empty={texts.none}
      />
      {chosen && (
        <ReasonDialog
          onClose={() => setChosen(null)}
          title={isOne ? texts.resendOf(nameOf(chosen)) : texts.resendAllTitle}
          text={isOne ? texts.resendText : texts.resendAllText}
          action={texts.resend}
          endpoint="resendDead"
          inputOf={(reason) => ({
            params: { endpointId },
            body: { ...(isOne && { customerId: chosen.customerId, eventNumber: chosen.eventNumber }), reason },
          })}
          refreshes={refreshedByEndpoint}
          onDone={setResult}
        />
      )}
    </Stack>
  )
}

function OrderLink({ orderId }: { orderId: string }) {
  return (
    <Anchor component={Link} href={`/orders/${orderId}`} inherit>
      <InsideLink value={true}>
        <Id value={orderId} short />
      </InsideLink>
    </Anchor>
  )
}
