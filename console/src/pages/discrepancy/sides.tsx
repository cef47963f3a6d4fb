// The data of our books and of the gateway side by side, as recorded when the discrepancy was last seen.
import { Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { useWords } from '../../words/words.tsx'
import { DetailList } from '../order/detail-list.tsx'

type Detail = Record<string, unknown>

/** The fields of our books; the others are the gateway's. */
const ofBooks = [
  'orderStatus',
  'orderAmount',
  'refundedAmount',
  'operationKind',
  'operationAmount',
  'operationState',
  'operationId',
  'stored',
]

function sidesOf({ gateway, ...recorded }: Detail): { books: Detail; gateway: Detail } {
  const [ours, theirs] = [true, false].map((isOurs) =>
    Object.fromEntries(Object.entries(recorded).filter(([name]) => ofBooks.includes(name) === isOurs)),
  )
  const answered = typeof gateway === 'object' ? gateway : { gateway }
  return { books: { ...ours }, gateway: { ...theirs, ...answered } }
}

export function Sides({ detail }: { detail: Detail }) {
  const { discrepancy } = useWords()
  const sides = sidesOf(detail)
  return (
    <Paper component="section" withBorder p="md" aria-labelledby="sides">
      <Title order={2} size="h4" id="sides">
        {discrepancy.sides}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {discrepancy.sidesHint}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {(['books', 'gateway'] as const).map((side) => (
          <div key={side}>
            <Title order={3} size="h5">
              {discrepancy[side]}
            </Title>
            {Object.keys(sides[side]).length > 0 ? (
              <Text size="sm" component="div">
                <DetailList detail={sides[side]} />
              </Text>
            ) : (
              <Text size="sm">{discrepancy.nothing}</Text>
            )}
          </div>
        ))}
      </SimpleGrid>
    </Paper>
  )
}
