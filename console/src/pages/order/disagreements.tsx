// The open discrepancies of an order, with their meaning and what to do.
import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { LabelledTime } from '../../parts/labelled-time.tsx'
import { useWords } from '../../words/words.tsx'
import { DetailList } from './detail-list.tsx'
import { PaymentLink } from './headline.tsx'
import { Notice } from './notice.tsx'
import { discrepancyText } from './timeline/moment-text.ts'

type Found = Data<'order'>['openDiscrepancies']

export function Disagreements({ found }: { found: Found }) {
  const words = useWords()
  const { number, won } = useFormats()
  const mayRefund = useMay('refund')
  const { disagreement } = words.orders
  if (found.length === 0) return null
  const title = disagreement.title(number(found.length), found.length === 1)
  return (
    <Notice tone="bad" title={title}>
      <Stack gap="md">
        {found.map(({ discrepancyId, kind, foundAt, amount, detail, paymentUrl }) => {
          const { name, meaning, next } = discrepancyText(words, kind)
          return (
            <div key={discrepancyId}>
              <Anchor component={Link} href={`/books/discrepancies/${discrepancyId}`} fw={600}>
                {name}
              </Anchor>
              {amount !== null && <Text size="sm">{disagreement.amount(won(amount))}</Text>}
              <Text size="sm">{meaning}</Text>
              <Text size="sm">{next}</Text>
              {paymentUrl && mayRefund && (
                <Text size="sm">
                  <PaymentLink url={paymentUrl} />
                </Text>
              )}
              <LabelledTime label={disagreement.found} at={foundAt} />
              <Text size="sm" component="details">
                <summary>{words.timeline.details}</summary>
                <DetailList detail={detail} />
              </Text>
            </div>
          )
        })}
      </Stack>
    </Notice>
  )
}
