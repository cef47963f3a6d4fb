// The attempts to deliver events to an endpoint, newest first, each with its answer and how long it took.
import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { usePages } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id, InsideLink } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useWords } from '../../words/words.tsx'
import { deliveryError } from '../order/timeline/delivery-error.ts'

type Attempt = Data<'eventAttempts'>['attempts'][number]

const refetchMs = 5_000

export function Attempts({ endpointId }: { endpointId: string }) {
  const { attempts: words, took } = useWords().events
  const { columns: headers } = words
  const { number } = useFormats()
  const pages = usePages('eventAttempts', { params: { endpointId } }, (data) => data.attempts, { refetchMs })
  const columns: Column<Attempt>[] = [
    {
      header: headers.event,
      place: 'title',
      cell: ({ type, eventNumber }) => words.event(type ?? words.deleted, number(eventNumber)),
    },
    { header: headers.answer, place: 'line', cell: (attempt) => <Answer attempt={attempt} /> },
    { header: headers.took, align: 'right', place: 'amount', cell: ({ tookMs }) => took(number(tookMs)) },
    { header: headers.customer, place: 'line', cell: (attempt) => <CustomerLink {...attempt} /> },
    { header: headers.time, place: 'line', cell: ({ attemptedAt }) => <Time at={attemptedAt} /> },
  ]
  return (
    <DataTable
      caption={words.caption}
      columns={columns}
      rows={pages.rows}
      keyOf={({ customerId, eventNumber, attemptedAt }) => `${customerId} ${eventNumber} ${attemptedAt}`}
      pages={pages}
      empty={words.none}
    />
  )
}

function Answer({ attempt: { status, error } }: { attempt: Attempt }) {
  const words = useWords()
  const { attempts } = words.events
  return (
    <div>
      <StatusBadge
        status={`${status}`}
        label={status === null ? attempts.noAnswer : attempts.accepted(`${status}`)}
        tone={error === null ? 'good' : 'bad'}
      />
      {status === null && error !== null && (
        <Text size="xs" mt={2}>
          {deliveryError(words, error)}
        </Text>
      )}
    </div>
  )
}

/** By name, or by id for a customer without one. */
export function CustomerLink({ customerId, customerName }: { customerId: string; customerName: string | null }) {
  return (
    <Anchor component={Link} href={`/customers/${customerId}`} inherit>
      <InsideLink value={true}>{customerName ?? <Id value={customerId} short />}</InsideLink>
    </Anchor>
  )
}
