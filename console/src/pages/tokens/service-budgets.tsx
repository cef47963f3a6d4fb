// The budgets of services over all customers, with what is used of them, and the dialogs that set and remove one.
import { Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { Data, EndpointName } from '../../api/client.ts'
import { useEndpoint, useMay } from '../../api/hooks.ts'
import { Credits } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { useBudgetLimit } from '../customer/budget-limit.tsx'

type Budget = Data<'serviceBudgets'>['budgets'][number]

const refreshes: EndpointName[] = ['serviceBudgets', 'actionLog']

/** `services`: the names of the tokens. */
export function ServiceBudgets({ services }: { services: string[] }) {
  const { tokens, customers } = useWords()
  const { budgets: words } = customers
  const { columns: headers } = words
  const { number } = useFormats()
  const mayManage = useMay('issue tokens')
  const { data, error, isLoading } = useEndpoint('serviceBudgets', {})
  const [isSetting, setIsSetting] = useState(false)
  const [removed, setRemoved] = useState<Budget | null>(null)
  const { frame, keepFocus } = useKeptFocus()
  const columns: Column<Budget>[] = [
    { header: tokens.budgets.service, place: 'title', cell: ({ value }) => value },
    { header: headers.period, cell: ({ period }) => words.periods[period] },
    { header: headers.credits, align: 'right', place: 'amount', cell: ({ credits }) => <Credits value={credits} /> },
    {
      header: headers.used,
      cell: ({ uses: [use] }) => (use ? words.use(number(use.used), number(use.left)) : words.unused),
    },
    { header: headers.warnAt, align: 'right', cell: ({ warnAt }) => <Credits value={warnAt} /> },
    { header: headers.renews, cell: ({ renewsAt }) => <Time at={renewsAt} /> },
    ...(mayManage
      ? [
          {
            header: headers.actions,
            cell: (budget: Budget) => (
              <Button size="compact-sm" variant="default" onClick={() => setRemoved(budget)}>
                {words.remove}
              </Button>
            ),
          },
        ]
      : []),
  ]
  return (
    <Stack
      gap="sm"
      ref={frame}
      tabIndex={-1}
      role="group"
      aria-label={tokens.budgets.caption}
      style={{ outline: 'none' }}
    >
      <Group justify="space-between">
        <Title order={2} size="h4">
          {tokens.budgets.title}
        </Title>
        {mayManage && data?.isPossible && services.length > 0 && (
          <Button variant="default" onClick={() => setIsSetting(true)}>
            {words.set}
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        {tokens.budgets.intro}
      </Text>
      <DataTable
        caption={tokens.budgets.caption}
        columns={columns}
        rows={data?.budgets ?? []}
        keyOf={({ budgetId }) => budgetId}
        isLoading={isLoading}
        error={error}
        empty={data?.isPossible === false ? tokens.budgets.notPossible : tokens.budgets.none}
      />
      {isSetting && <SetServiceBudget services={services} onClose={() => setIsSetting(false)} />}
      {removed && (
        <ReasonDialog
          onClose={() => setRemoved(null)}
          title={words.removeTitle}
          text={words.removeText}
          action={words.remove}
          isDestructive
          endpoint="removeServiceBudget"
          inputOf={(reason) => ({ params: { budgetId: removed.budgetId }, body: { reason } })}
          refreshes={refreshes}
          onDone={() => {
            announce(words.removed)
            keepFocus()
          }}
        />
      )}
    </Stack>
  )
}

function SetServiceBudget({ services, onClose }: { services: string[]; onClose(): void }) {
  const { tokens, customers } = useWords()
  const { budgets: words } = customers
  const [value, setValue] = useState(services[0] ?? '')
  const limit = useBudgetLimit()
  return (
    <ReasonDialog
      onClose={onClose}
      title={words.setTitle}
      text={words.setText}
      action={words.setAction}
      focus="first"
      isBlocked={!limit.isComplete}
      endpoint="setServiceBudget"
      inputOf={(reason) => ({
        body: { value, ...limit.body, reason },
      })}
      refreshes={refreshes}
      onDone={() => announce(words.saved)}
    >
      <NativeSelect
        label={tokens.budgets.service}
        data={services}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
      {limit.fields}
    </ReasonDialog>
  )
}
