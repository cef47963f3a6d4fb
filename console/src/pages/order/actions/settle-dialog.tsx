// Asks for the reason before an order is settled with the gateway, from whichever page.
import type { Data } from '../../../api/client.ts'
import { ReasonDialog } from '../../../parts/reason-dialog.tsx'
import { useWords } from '../../../words/words.tsx'
import { showingOrders } from '../../orders/showing-orders.ts'

type Props = { opened: boolean; orderId: string; onClose(): void; onSettled(data: Data<'settleOrder'>): void }

export function SettleDialog({ opened, orderId, onClose, onSettled }: Props) {
  const { title, text, action } = useWords().orders.settle
  return (
    <ReasonDialog
      opened={opened}
      onClose={onClose}
      title={title}
      text={text}
      action={action}
      endpoint="settleOrder"
      inputOf={(reason) => ({ params: { orderId }, body: { reason } })}
      refreshes={showingOrders}
      onDone={onSettled}
    />
  )
}
