// The cells of a row of discrepancies.
import { Box, Text } from '@mantine/core'
import type { Data } from '../../../../src/console/contract.ts'
import { Won } from '../../format/amounts.tsx'
import { Id } from '../../format/id.tsx'
import { AgeSince, Time } from '../../format/time.tsx'
import { useWords } from '../../words/words.tsx'
import { DetailList } from '../order/detail-list.tsx'
import { resolutionText } from '../order/timeline/moment-text.ts'

type Row = Data<'discrepancies'>['discrepancies'][number]

export function Kind({ row: { kind, detail, resolvedAt } }: { row: Row }) {
  const { books, discrepancy } = useWords()
  const words = books.discrepancies
  const { name, meaning, next } = words.kinds[kind] ?? words.otherKind(kind)
  return (
    <Box maw="34rem">
      <Text fw={600}>{name}</Text>
      <Text size="sm">{resolvedAt ? `${discrepancy.asFound}${meaning}` : meaning}</Text>
      <details>
        <summary>{words.details}</summary>
        <Text size="sm" fw={600} mt="xs">
          {words.next}
        </Text>
        <Text size="sm">{next}</Text>
        <Text size="sm" fw={600} mt="xs">
          {words.seen}
        </Text>
        <DetailList detail={detail} />
      </details>
    </Box>
  )
}

/** What the gateway has more than our books. */
export function Amount({ row: { amount } }: { row: Pick<Row, 'amount'> }) {
  const { discrepancies } = useWords().books
  return amount === null ? (
    <Text span c="dimmed">
      {discrepancies.amountUnknown}
    </Text>
  ) : (
    <Won value={amount} signed />
  )
}

export function Customer({ row: { customerId, customerName } }: { row: Pick<Row, 'customerId' | 'customerName'> }) {
  const { orders } = useWords()
  return (
    <Text span c={customerId ? undefined : 'dimmed'}>
      {customerName ?? (customerId ? orders.nameless : '–')}
    </Text>
  )
}

export function About({ row: { orderId, subject } }: { row: Row }) {
  const { books } = useWords()
  return orderId ? (
    <Id value={orderId} short />
  ) : (
    <div>
      <Id value={subject} short />
      <Text size="xs" c="dimmed">
        {books.discrepancies.noOrder}
      </Text>
    </div>
  )
}

export function Found({ row: { foundAt, resolvedAt } }: { row: Row }) {
  const { books } = useWords()
  return (
    <div>
      <Time at={foundAt} />
      {!resolvedAt && (
        <Text size="sm">
          {books.discrepancies.age}: <AgeSince at={foundAt} />
        </Text>
      )}
    </div>
  )
}

export function Resolved({ row: { resolution, resolvedAt } }: { row: Row }) {
  const words = useWords()
  return (
    <div>
      <Text size="sm">{resolution && resolutionText(words, resolution)}</Text>
      {resolvedAt && <Time at={resolvedAt} />}
    </div>
  )
}
