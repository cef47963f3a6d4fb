// What can be done with an order now, and for what cannot, why. What came of it is told here and stays until it is closed.
import { Box, Group, Paper, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Data } from '../../../api/client.ts'
import { ActionButton } from '../../../parts/action-button.tsx'
import { ReasonDialog } from '../../../parts/reason-dialog.tsx'
import { useWords, type Words } from '../../../words/words.tsx'
import { RefundedResult, RefundUnknownResult, ResendResult, SettleResult } from '../../orders/results.tsx'
import { showingOrders } from '../../orders/showing-orders.ts'
import type { Order } from '../headline.tsx'
import { RefundDialog } from './refund-dialog.tsx'
import { SettleDialog } from './settle-dialog.tsx'

type Given = Data<'order'>['actions'][number]
export type OrderAction = Given['action']

/** The order in which they stand. */
const names = ['settle', 'refund', 'resend events'] as const satisfies OrderAction[]

export function Actions({ order, actions }: { order: Order; actions: Given[] }) {
  const words = useWords()
  const { orders } = words
  const [asking, setAsking] = useState<OrderAction | null>(null)
  const [result, setResult] = useState<ReactNode>(null)
  const labels: Record<OrderAction, string> = {
    settle: orders.actions.settle,
    refund: orders.actions.refund,
    'resend events': orders.actions.resend,
  }
  const params = { orderId: order.orderId }
  const dismiss = () => setResult(null)
  const close = () => setAsking(null)
  return (
    <Paper component="section" withBorder p="md" aria-labelledby="actions">
      <Title order={2} size="h4" id="actions" mb="sm">
        {orders.actions.title}
      </Title>
      <Group gap="lg" align="flex-start">
        {names.map((name) => {
          const given = actions.find(({ action }) => action === name)
          return (
            given && (
              <ActionButton
                key={name}
                label={labels[name]}
                isMain={name === 'settle'}
                isTheirs={given.code !== 'role'}
                why={whyNot(given, order.status, words)}
                onAsk={() => setAsking(name)}
              />
            )
          )
        })}
      </Group>
      {result && <Box mt="md">{result}</Box>}
      <SettleDialog
        opened={asking === 'settle'}
        orderId={order.orderId}
        onClose={close}
        onSettled={(data) => setResult(<SettleResult data={data} onClose={dismiss} />)}
      />
      <RefundDialog
        opened={asking === 'refund'}
        orderId={order.orderId}
        onClose={close}
        onRefunded={(data) => setResult(<RefundedResult data={data} onClose={dismiss} />)}
        onUnknown={() => setResult(<RefundUnknownResult onClose={dismiss} />)}
      />
      <ReasonDialog
        opened={asking === 'resend events'}
        onClose={close}
        title={orders.resend.title}
        text={orders.resend.text}
        action={orders.resend.action}
        endpoint="resendEvents"
        inputOf={(reason) => ({ params, body: { reason } })}
        refreshes={showingOrders}
        onDone={(data) => setResult(<ResendResult data={data} onClose={dismiss} />)}
      />
    </Paper>
  )
}

/** Undefined when it can be done. The service's own sentence is for what has no words here. */
function whyNot({ allowed, code, why }: Given, status: Order['status'], { orders, common }: Words): string | undefined {
  if (allowed) return undefined
  if (code === 'state') return orders.actions.whyState(common.statuses[status])
  const told: Record<string, string> = orders.actions.why
  return told[code ?? ''] ?? why ?? ''
}
