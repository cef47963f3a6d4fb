// The actions on a discrepancy: sync its order with the gateway, or resolve it with a note. An action that is not possible now shows
// why.
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

type PossibleAction = Data<'discrepancy'>['actions'][number]
type Props = { discrepancyId: string; orderId: string | null; actions: PossibleAction[] }

export function Actions({ discrepancyId, orderId, actions }: Props) {
  const { orders, books, discrepancy } = useWords()
  const [dialog, setDialog] = useState<PossibleAction['action'] | null>(null)
  const [result, setResult] = useState<ReactNode>(null)
  const { frame, keepFocus } = useKeptFocus()
  const labels = { settle: orders.actions.settle, resolve: books.discrepancies.resolve }
  const close = () => setDialog(null)
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
              isPermitted={possible.code !== 'role'}
              why={possible.code ? discrepancy.why[possible.code] : undefined}
              onClick={() => setDialog(possible.action)}
            />
          ))}
        </Group>
      )}
      {result && <Box mt="md">{result}</Box>}
      <SettleDialog
        opened={dialog === 'settle'}
        orderId={orderId ?? ''}
        onClose={close}
        onSettled={(data) => setResult(<SettleResult data={data} onClose={() => setResult(null)} />)}
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
        onDone={() => {
          announce(books.discrepancies.resolvedNow)
          keepFocus()
        }}
      />
    </Paper>
  )
}
