// Writes a note on an order or a customer: an entry of the action log that changes nothing else.
import type { EndpointName } from '../../../api/client.ts'
import { ReasonDialog } from '../../../parts/reason-dialog.tsx'
import { announce } from '../../../shell/announce.ts'
import { useWords } from '../../../words/words.tsx'

type Props = { opened: boolean; on: { orderId: string } | { customerId: string }; onClose(): void }

const affected: EndpointName[] = ['order', 'customer', 'actionLog']

export function NoteDialog({ opened, on, onClose }: Props) {
  const { note } = useWords().orders
  const { title, text, field, action, done } = note
  const props = {
    opened,
    onClose,
    title,
    text,
    label: field,
    action,
    refreshes: affected,
    onDone: () => announce(done),
  }
  return 'orderId' in on ? (
    <ReasonDialog {...props} endpoint="addOrderNote" inputOf={(reason) => ({ params: on, body: { reason } })} />
  ) : (
    <ReasonDialog {...props} endpoint="addCustomerNote" inputOf={(reason) => ({ params: on, body: { reason } })} />
  )
}
