// The summary of a discrepancy: status, meaning, what to do, times, customer and order.
import { Anchor, Group, Paper, SimpleGrid, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { AgeSince, Time } from '../../format/time.tsx'
import { useWords } from '../../words/words.tsx'
import { Amount } from '../books/discrepancy-cells.tsx'
import { Fact } from '../order/headline.tsx'
import { discrepancyText, resolutionText } from '../order/timeline/moment-text.ts'

type Props = Pick<Data<'discrepancy'>, 'discrepancy' | 'order'>

export function Headline({ discrepancy, order }: Props) {
  const words = useWords()
  const { discrepancy: own, books, orders } = words
  const { kind, subject, amount, customerId, customerName, foundAt, lastSeenAt, resolvedAt, resolution } = discrepancy
  const { meaning, next } = discrepancyText(words, kind)
  return (
    <Paper component="section" withBorder p="md" aria-label={own.title}>
      <Group gap="sm" mb="xs">
        {resolvedAt ? (
          <StatusBadge status="resolved" label={books.discrepancies.resolved} tone="good" />
        ) : (
          <StatusBadge status="open" label={books.discrepancies.open} tone="bad" />
        )}
        <Text>{resolvedAt ? `${own.asFound}${meaning}` : meaning}</Text>
      </Group>
      {!resolvedAt && (
        <Text size="sm" mb="md">
          <Text span inherit fw={600}>{`${books.discrepancies.next}: `}</Text>
          {next}
        </Text>
      )}
      <SimpleGrid component="dl" cols={{ base: 1, xs: 2, md: 5 }} spacing="md" verticalSpacing="sm" m={0}>
        <Fact label={books.discrepancies.amount}>
          <Amount row={{ amount }} />
          <Text size="xs" c="dimmed">
            {books.discrepancies.amountHint}
          </Text>
        </Fact>
        <Fact label={books.discrepancies.found}>
          <Time at={foundAt} />
          {!resolvedAt && (
            <Text size="xs" c="dimmed">
              {`${books.discrepancies.age}: `}
              <AgeSince at={foundAt} />
            </Text>
          )}
        </Fact>
        {resolvedAt ? (
          <Fact label={own.resolvedAt}>
            <Time at={resolvedAt} />
          </Fact>
        ) : (
          <Fact label={own.lastSeen}>
            <Time at={lastSeenAt} />
          </Fact>
        )}
        <Fact label={own.customer}>
          {customerId ? (
            <Anchor component={Link} href={`/customers/${customerId}`}>
              {customerName ?? orders.nameless}
            </Anchor>
          ) : (
            own.unknownCustomer
          )}
        </Fact>
        <Fact label={own.orderNow}>{order ? <StatusBadge status={order.status} /> : books.discrepancies.noOrder}</Fact>
        {order && (
          <Fact label={own.order} wide>
            <Anchor
              component={Link}
              href={`/orders/${order.orderId}`}
              ff="monospace"
              style={{ overflowWrap: 'anywhere' }}
            >
              {order.orderId}
            </Anchor>
          </Fact>
        )}
        {subject !== order?.orderId && (
          <Fact label={own.payment} wide>
            <Id value={subject} />
          </Fact>
        )}
        {resolution && (
          <Fact label={books.discrepancies.resolution} wide>
            {resolutionText(words, resolution)}
          </Fact>
        )}
      </SimpleGrid>
    </Paper>
  )
}
