// The actions on a discrepancy: sync its order with the gateway, accept a partial cancellation, or resolve it with a note.
// An action that is not possible now shows why.
import { Box, Group, Paper, Text, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Data } from '../../api/client.ts'
import { affectedByResolution } from '../../api/refreshes.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { SettleResult } from '../order/actions/results.tsx'
import { SettleDialog } from '../order/actions/settle-dialog.tsx'
import { AcceptDialog, AcceptedResult } from './accept-dialog.tsx'
import { WaitingRequests } from './waiting-requests.tsx'

type PossibleAction = Data<'discrepancy'>['actions'][number]
type Props = Pick<Data<'discrepancy'>, 'discrepancy' | 'order' | 'actions'>

export function Actions({ discrepancy: { discrepancyId, customerId, resolvedAt }, order, actions }: Props) {
  const { orders, books, discrepancy } = useWords()
  const [dialog, setDialog] = useState<PossibleAction['action'] | null>(null)
  const [result, setResult] = useState<ReactNode>(null)
  const { frame, keepFocus } = useKeptFocus()
  const labels = {
    settle: orders.actions.settle,
    accept: discrepancy.accept.action,
    resolve: books.discrepancies.resolve,
  }
  const close = () => setDialog(null)
  function closed(text: string): void {
    announce(text)
    keepFocus()
  }
  return (
    <Paper
      ref={frame}
      component="section"
      withBorder
      p="md"
      aria-labelledby="actions"
      tabIndex={-1}
      style={{ outline: 'none' }}
    >
      <Title order={2} size="h4" id="actions" mb="sm">
        {orders.actions.title}
      </Title>
      {actions.every(({ code }) => code === 'resolved') ? (
        <Text size="sm">{discrepancy.why.resolved}</Text>
      ) : (
        <Group gap="lg" align="flex-start">
          {actions.map((possible) => (
            <ActionButton
              key={possible.action}
              label={labels[possible.action]}
              isMain={possible.action === 'settle'}
              why={possible.code ? discrepancy.why[possible.code] : undefined}
              onClick={() => setDialog(possible.action)}
            />
          ))}
        </Group>
      )}
      {result && <Box mt="md">{result}</Box>}
      {customerId && order && !resolvedAt && (
        <WaitingRequests customerId={customerId} orderId={order.orderId} onDone={closed} />
      )}
      <SettleDialog
        opened={dialog === 'settle'}
        orderId={order?.orderId ?? ''}
        onClose={close}
        onSettled={(data) => setResult(<SettleResult data={data} onClose={() => setResult(null)} />)}
      />
      <AcceptDialog
        opened={dialog === 'accept'}
        discrepancyId={discrepancyId}
        onClose={close}
        onAccepted={(data) => setResult(<AcceptedResult data={data} onClose={() => setResult(null)} />)}
      />
      <ReasonDialog
        opened={dialog === 'resolve'}
        onClose={close}
        title={books.discrepancies.resolveTitle}
        text={books.discrepancies.resolveText}
        action={books.discrepancies.resolve}
        endpoint="resolveDiscrepancy"
        inputOf={(reason) => ({ params: { discrepancyId }, body: { reason } })}
        refreshes={affectedByResolution}
        onDone={() => closed(books.discrepancies.resolvedNow)}
      />
    </Paper>
  )
}
