// Requests to accept this partial cancellation that wait for another operator, to be approved or rejected here.
import { Box } from '@mantine/core'
import { useEndpoint } from '../../api/hooks.ts'
import { PendingRequests } from '../customer/pending-requests.tsx'

type Props = { customerId: string; orderId: string; onDone(text: string): void }

/** Shows a request that another operator makes or decides meanwhile. */
const refetchMs = 15_000

export function WaitingRequests({ customerId, orderId, onDone }: Props) {
  const { data } = useEndpoint('adjustments', { params: { customerId }, query: { limit: '1' } }, { refetchMs })
  const pending = data?.pending.filter((each) => each.kind === 'PART' && each.orderId === orderId) ?? []
  if (pending.length === 0) return null
  return (
    <Box mt="md">
      <PendingRequests pending={pending} onDone={onDone} />
    </Box>
  )
}
