// What can be done about a discrepancy now: ask the gateway once more, or close it with what was found out. What cannot be
// done says why.
import { Box, Group, Paper, Text, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Data } from '../../api/client.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { SettleDialog } from '../order/actions/settle-dialog.tsx'
import { SettleResult } from '../orders/results.tsx'
import { showingDiscrepancies } from './showing-discrepancies.ts'

type Given = Data<'discrepancy'>['actions'][number]
type Props = { discrepancyId: string; orderId: string | null; actions: Given[] }

export function Actions({ discrepancyId, orderId, actions }: Props) {
  const { orders, books, discrepancy } = useWords()
  const [asking, setAsking] = useState<Given['action'] | null>(null)
  const [result, setResult] = useState<ReactNode>(null)
  const { frame, keepFocus } = useKeptFocus()
  const labels = { settle: orders.actions.settle, resolve: books.discrepancies.resolve }
  const close = () => setAsking(null)
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
          {actions.map((given) => (
            <ActionButton
              key={given.action}
              label={labels[given.action]}
              isMain={given.action === 'settle'}
              isTheirs={given.code !== 'role'}
              why={given.code ? discrepancy.why[given.code] : undefined}
              onAsk={() => setAsking(given.action)}
            />
          ))}
        </Group>
      )}
      {result && <Box mt="md">{result}</Box>}
      <SettleDialog
        opened={asking === 'settle'}
        orderId={orderId ?? ''}
        onClose={close}
        onSettled={(data) => setResult(<SettleResult data={data} onClose={() => setResult(null)} />)}
      />
      <ReasonDialog
        opened={asking === 'resolve'}
        onClose={close}
        title={books.discrepancies.resolveTitle}
        text={books.discrepancies.resolveText}
        action={books.discrepancies.resolve}
        endpoint="resolveDiscrepancy"
        inputOf={(reason) => ({ params: { discrepancyId }, body: { reason } })}
        refreshes={showingDiscrepancies}
        onDone={() => {
          announce(books.discrepancies.resolvedNow)
          keepFocus()
        }}
      />
    </Paper>
  )
}
