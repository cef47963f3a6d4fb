// The actions on an order, or why they are not possible now. The result stays here until it is closed.
import { Box, Group, Paper, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Data } from '../../../api/client.ts'
import { useMay } from '../../../api/hooks.ts'
import { affectedByOrderAction } from '../../../api/refreshes.ts'
import { ActionButton } from '../../../parts/action-button.tsx'
import { SaveReceipt } from '../../../parts/files/save-receipt.tsx'
import { ReasonDialog } from '../../../parts/reason-dialog.tsx'
import { useWords, type Words } from '../../../words/words.tsx'
import type { Order } from '../headline.tsx'
import { NoteDialog } from './note-dialog.tsx'
import { RefundDialog } from './refund-dialog.tsx'
import { RefundedResult, RefundUnknownResult, ResendResult, SettleResult } from './results.tsx'
import { SettleDialog } from './settle-dialog.tsx'

type PossibleAction = Data<'order'>['actions'][number]
export type OrderAction = PossibleAction['action']

/** In display order. */
const names = ['settle', 'refund', 'resend events'] as const satisfies OrderAction[]

type Page = Pick<Data<'order'>, 'order' | 'open' | 'openDiscrepancies' | 'actions'>

export function Actions({ page: { order, open, openDiscrepancies, actions } }: { page: Page }) {
  const words = useWords()
  const { orders } = words
  const [dialog, setDialog] = useState<OrderAction | 'note' | null>(null)
  const [result, setResult] = useState<ReactNode>(null)
  const labels: Record<OrderAction, string> = {
    settle: orders.actions.settle,
    refund: orders.actions.refund,
    'resend events': orders.actions.resend,
  }
  const isToSettle = open !== null || openDiscrepancies.length > 0
  const mayWriteNotes = useMay('write notes')
  const params = { orderId: order.orderId }
  const dismiss = () => setResult(null)
  const close = () => setDialog(null)
  return (
    <Paper component="section" withBorder p="md" aria-labelledby="actions">
      <Title order={2} size="h4" id="actions" mb="sm">
        {orders.actions.title}
      </Title>
      <Group gap="lg" align="flex-start">
        {names.map((name) => {
          const possible = actions.find(({ action }) => action === name)
          return (
            possible && (
              <ActionButton
                key={name}
                label={labels[name]}
                isMain={name === 'settle' && isToSettle}
                why={whyNot(possible, order.status, words)}
                onClick={() => setDialog(name)}
              />
            )
          )
        })}
        <ActionButton
          label={orders.actions.note}
          isMain={false}
          why={mayWriteNotes ? undefined : orders.actions.why.role}
          onClick={() => setDialog('note')}
        />
        {/* Only an order that was confirmed has moved credits. */}
        {order.confirmedAt && <SaveReceipt endpoint="orderReceipt" input={{ params }} label={orders.actions.receipt} />}
      </Group>
      {result && <Box mt="md">{result}</Box>}
      <SettleDialog
        opened={dialog === 'settle'}
        orderId={order.orderId}
        onClose={close}
        onSettled={(data) => setResult(<SettleResult data={data} onClose={dismiss} />)}
      />
      <RefundDialog
        opened={dialog === 'refund'}
        order={order}
        onClose={close}
        onRefunded={(data) => setResult(<RefundedResult data={data} onClose={dismiss} />)}
        onUnknown={() => setResult(<RefundUnknownResult onClose={dismiss} />)}
      />
      <ReasonDialog
        opened={dialog === 'resend events'}
        onClose={close}
        title={orders.resend.title}
        text={orders.resend.text}
        action={orders.resend.action}
        endpoint="resendEvents"
        inputOf={(reason) => ({ params, body: { reason } })}
        refreshes={affectedByOrderAction}
        onDone={(data) => setResult(<ResendResult data={data} onClose={dismiss} />)}
      />
      <NoteDialog opened={dialog === 'note'} on={params} onClose={close} />
    </Paper>
  )
}

/** Undefined: it is possible. A code without a text falls back to the sentence of the service. */
function whyNot(
  { allowed, code, why }: PossibleAction,
  status: Order['status'],
  { orders, common }: Words,
): string | undefined {
  if (allowed) return undefined
  if (code === 'state') return orders.actions.whyState(common.statuses[status])
  const texts: Record<string, string> = orders.actions.why
  return texts[code ?? ''] ?? why ?? ''
}
