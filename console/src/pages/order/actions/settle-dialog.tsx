// Syncs an order with the gateway (`orders settle`), from the page of an order or of a discrepancy.
import type { Data } from '../../../api/client.ts'
import { affectedByOrderAction } from '../../../api/refreshes.ts'
import { ReasonDialog } from '../../../parts/reason-dialog.tsx'
import { useWords } from '../../../words/words.tsx'

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
      refreshes={affectedByOrderAction}
      onDone={onSettled}
    />
  )
}
