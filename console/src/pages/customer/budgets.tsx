// The budgets of a customer with what is used of them, and the dialogs that set and remove one.
import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
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
import { useBudgetLimit } from './budget-limit.tsx'

type Budget = Data<'budgets'>['budgets'][number]

const refreshes: EndpointName[] = ['budgets', 'actionLog']
/** Uses of a budget that are shown in its row. */
const usesShown = 3

export function Budgets({ customerId }: { customerId: string }) {
  const { budgets: words } = useWords().customers
  const { columns: headers } = words
  const mayManage = useMay('manage customers')
  const { data, error, isLoading } = useEndpoint('budgets', { params: { customerId } })
  const [isSetting, setIsSetting] = useState(false)
  const [removed, setRemoved] = useState<Budget | null>(null)
  const [isRemoving, setIsRemoving] = useState(false)
  const { frame, keepFocus } = useKeptFocus()
  const columns: Column<Budget>[] = [
    { header: headers.subject, place: 'title', cell: (budget) => <Subject budget={budget} /> },
    { header: headers.period, place: 'line', cell: ({ period }) => words.periods[period] },
    { header: headers.credits, place: 'amount', align: 'right', cell: ({ credits }) => <Credits value={credits} /> },
    { header: headers.used, cell: (budget) => <Uses budget={budget} /> },
    { header: headers.warnAt, place: 'folded', align: 'right', cell: ({ warnAt }) => <Credits value={warnAt} /> },
    { header: headers.renews, place: 'folded', cell: ({ renewsAt }) => <Time at={renewsAt} /> },
    ...(mayManage
      ? [
          {
            header: headers.actions,
            cell: (budget: Budget) => (
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => {
                  setRemoved(budget)
                  setIsRemoving(true)
                }}
              >
                {words.remove}
              </Button>
            ),
          },
        ]
      : []),
  ]
  return (
    <Stack gap="sm" ref={frame} tabIndex={-1} role="group" aria-label={words.caption} style={{ outline: 'none' }}>
      <Text size="sm" c="dimmed">
        {words.intro}
      </Text>
      {mayManage && (
        <Group>
          <Button onClick={() => setIsSetting(true)}>{words.set}</Button>
        </Group>
      )}
      <DataTable
        caption={words.caption}
        columns={columns}
        rows={data?.budgets ?? []}
        keyOf={({ budgetId }) => budgetId}
        isLoading={isLoading}
        error={error}
        empty={words.none}
      />
      <SetBudget opened={isSetting} onClose={() => setIsSetting(false)} customerId={customerId} />
      <ReasonDialog
        opened={isRemoving}
        onClose={() => setIsRemoving(false)}
        title={words.removeTitle}
        text={words.removeText}
        action={words.remove}
        isDestructive
        endpoint="removeBudget"
        inputOf={(reason) => ({ params: { customerId, budgetId: removed?.budgetId ?? '' }, body: { reason } })}
        refreshes={refreshes}
        onDone={() => {
          announce(words.removed)
          keepFocus()
        }}
      />
    </Stack>
  )
}

function Subject({ budget: { scope, value } }: { budget: Budget }) {
  const { budgets: words } = useWords().customers
  if (scope === 'CUSTOMER') return words.scopes.CUSTOMER
  return value === null ? words.each[scope === 'KEY' ? 'KEY' : 'USER'] : `${words.scopes[scope]} ${value}`
}

function Uses({ budget: { uses, value, scope, countsSince } }: { budget: Budget }) {
  const { budgets: words } = useWords().customers
  const { number, time } = useFormats()
  const isOfEach = value === null && scope !== 'CUSTOMER'
  const shown = uses.slice(0, usesShown).map((use) => {
    const text = words.use(number(use.used), number(use.left))
    return isOfEach ? `${use.value}: ${text}` : text
  })
  const others = uses.length - shown.length
  const lines = [
    ...(shown.length > 0 ? shown : [words.unused]),
    ...(others > 0 ? [words.others(number(others))] : []),
    ...(countsSince ? [words.since(time(countsSince).korea)] : []),
  ]
  return (
    <Stack gap={0}>
      {lines.map((line) => (
        <Text key={line} span inherit>
          {line}
        </Text>
      ))}
    </Stack>
  )
}

const scopes = ['CUSTOMER', 'SERVICE', 'KEY', 'USER'] as const

type SetProps = { opened: boolean; onClose(): void; customerId: string }

function SetBudget({ opened, onClose, customerId }: SetProps) {
  const { budgets: words } = useWords().customers
  const [scope, setScope] = useState<(typeof scopes)[number]>('CUSTOMER')
  const [value, setValue] = useState('')
  const limit = useBudgetLimit()
  function close(): void {
    setValue('')
    limit.clear()
    onClose()
  }
  const lacksValue = scope === 'SERVICE' && value.trim() === ''
  return (
    <ReasonDialog
      opened={opened}
      onClose={close}
      title={words.setTitle}
      text={words.setText}
      action={words.setAction}
      isBlocked={!limit.isComplete || lacksValue}
      focus="first"
      endpoint="setBudget"
      refreshes={refreshes}
      onDone={() => announce(words.saved)}
      inputOf={(reason) => ({
        params: { customerId },
        body: {
          scope,
          ...limit.body,
          ...(scope !== 'CUSTOMER' && value.trim() !== '' && { value: value.trim() }),
          reason,
        },
      })}
    >
      <NativeSelect
        label={words.columns.subject}
        data={scopes.map((each) => ({ value: each, label: words.scopes[each] }))}
        value={scope}
        onChange={(event) => setScope(event.currentTarget.value as typeof scope)}
      />
      {scope !== 'CUSTOMER' && (
        <TextInput
          label={words.value}
          description={words.valueHints[scope]}
          required={scope === 'SERVICE'}
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
          maxLength={200}
        />
      )}
      {limit.fields}
    </ReasonDialog>
  )
}
