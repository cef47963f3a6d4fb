// One order: summary, operation in progress, discrepancies, actions and timeline.
import { Anchor, Stack } from '@mantine/core'
import { Link } from 'wouter'
import { useEndpoint } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { Actions } from './actions/actions.tsx'
import { OpenOperation } from './actions/open-operation.tsx'
import { Disagreements } from './disagreements.tsx'
import { Headline } from './headline.tsx'
import { Timeline } from './timeline/timeline.tsx'

/** Shows what the worker does meanwhile. */
const refetchMs = 15_000

export function OrderPage({ params: { orderId = '' } }: { params: { orderId?: string } }) {
  const { orders } = useWords()
  const { won } = useFormats()
  const { data, error, refetch } = useEndpoint('order', { params: { orderId } }, { refetchMs })
  return (
    <>
      <PageHeader
        title={orders.order.title}
        tab={
          data && [won(data.order.amount), data.order.customerName ?? orders.nameless, orders.order.title].join(' · ')
        }
        detail={<Id value={orderId} />}
        actions={
          <Anchor component={Link} href="/orders" size="sm">
            {orders.order.back}
          </Anchor>
        }
      />
      <Stack gap="md">
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {data ? (
          <>
            <Headline order={data.order} lot={data.lot} />
            {data.open && <OpenOperation open={data.open} />}
            <Disagreements found={data.openDiscrepancies} />
            <Actions order={data.order} actions={data.actions} />
            <Timeline moments={data.story} />
          </>
        ) : (
          !error && <Waiting />
        )}
      </Stack>
    </>
  )
}
