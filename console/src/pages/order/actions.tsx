// What can be done with an order now, and for what cannot, why. What came of it is told here and stays until it is closed.
import { Box, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import type { Data } from '../../api/client.ts'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { useWords } from '../../words/words.tsx'
import type { Order } from './headline.tsx'
import { RefundDialog } from './refund-dialog.tsx'
import { RefundedResult, RefundUnknownResult, ResendResult, SettleResult } from './results.tsx'
import { showingOrders } from './showing-orders.ts'

type Given = Data<'order'>['actions'][number]
export type OrderAction = Given['action']

/** The order in which they stand. */
const names = ['settle', 'refund', 'resend events'] as const satisfies OrderAction[]

export function Actions({ order, actions }: { order: Order; actions: Given[] }) {
  const { orders } = useWords()
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
              <ActionButton key={name} given={given} label={labels[name]} order={order} onAsk={() => setAsking(name)} />
            )
          )
        })}
      </Group>
      {result && <Box mt="md">{result}</Box>}
      <ReasonDialog
        opened={asking === 'settle'}
        onClose={close}
        title={orders.settle.title}
        text={orders.settle.text}
        action={orders.settle.action}
        endpoint="settleOrder"
        inputOf={(reason) => ({ params, body: { reason } })}
        refreshes={showingOrders}
        onDone={(data) => setResult(<SettleResult data={data} onClose={dismiss} />)}
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

type ButtonProps = { given: Given; label: string; order: Order; onAsk(): void }

/** No button for what the role would be refused; one that cannot be used now for the rest. */
function ActionButton({ given: { action, allowed, code, why }, label, order, onAsk }: ButtonProps) {
  const { orders, common } = useWords()
  const whyId = useId()
  const told = orders.actions.why as Record<string, string>
  const reason = code === 'state' ? orders.actions.whyState(common.statuses[order.status]) : (told[code ?? ''] ?? why)
  return (
    <Stack gap={4} maw={260} align="flex-start">
      {code === 'role' ? (
        <Text fw={500}>{label}</Text>
      ) : (
        <Button
          variant={action === 'settle' ? 'filled' : 'default'}
          onClick={onAsk}
          disabled={!allowed}
          aria-describedby={allowed ? undefined : whyId}
        >
          {label}
        </Button>
      )}
      {!allowed && (
        <Text id={whyId} size="xs" c="dimmed">
          {reason}
        </Text>
      )}
    </Stack>
  )
}
