// The adjustments of a customer: goodwill, corrections and reversals, newest first, and the requests that wait for a second
// operator. Each dialog has an id of its own, so a repeat of its request adjusts nothing twice.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Data } from '../../api/client.ts'
import { useEndpoint, useMay, usePages } from '../../api/hooks.ts'
import { affectedByAdjustment } from '../../api/refreshes.ts'
import { Credits } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { PendingRequests } from './pending-requests.tsx'

type Adjustment = Data<'adjustments'>['adjustments'][number]
type Limits = Data<'adjustments'>['limits']
type Act = 'grantGoodwill' | 'correctBalance'

export function Adjustments({ customerId }: { customerId: string }) {
  const { adjustments: words } = useWords().customers
  const { number } = useFormats()
  const mayAdjust = useMay('adjust')
  const { frame, keepFocus } = useKeptFocus()
  const [act, setAct] = useState<{ name: Act; adjustmentId: string } | null>(null)
  const params = { customerId }
  const pages = usePages('adjustments', { params }, (data) => data.adjustments)
  const { data } = useEndpoint('adjustments', { params, query: { limit: '1' } }, { keepLast: true })

  function done(text: string): void {
    announce(text)
    keepFocus()
  }
  return (
    <Stack gap="sm" ref={frame} tabIndex={-1} role="group" aria-label={words.caption} style={{ outline: 'none' }}>
      {mayAdjust && (
        <Group>
          {(['grantGoodwill', 'correctBalance'] as const).map((name) => (
            <Button
              key={name}
              variant={name === 'grantGoodwill' ? 'filled' : 'default'}
              onClick={() => setAct({ name, adjustmentId: crypto.randomUUID() })}
            >
              {words[name]}
            </Button>
          ))}
          {data && (
            <Text size="xs" c="dimmed">
              {data.limits.perDay === 0
                ? words.mayAdjustNothing
                : words.limits(
                    number(data.limits.perDay),
                    number(data.limits.usedToday),
                    number(data.limits.approvalAbove),
                  )}
            </Text>
          )}
        </Group>
      )}
      {data && data.pending.length > 0 && <PendingRequests pending={data.pending} onDone={done} />}
      <List pages={pages} />
      {act && (
        <AdjustDialog
          {...act}
          key={act.adjustmentId}
          customerId={customerId}
          limits={data?.limits}
          onClose={() => setAct(null)}
          onDone={done}
        />
      )}
    </Stack>
  )
}

function List({ pages }: { pages: ReturnType<typeof usePages<'adjustments', Adjustment>> }) {
  const { adjustments: words, statement } = useWords().customers
  const { columns: headers } = words
  const columns: Column<Adjustment>[] = [
    { header: headers.time, place: 'line', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: headers.kind, place: 'title', cell: ({ kind }) => statement.entryKinds[kind] },
    {
      header: headers.credits,
      place: 'amount',
      align: 'right',
      cell: ({ credits }) => <Credits value={credits} signed />,
    },
    { header: headers.reason, cell: ({ reason }) => reason },
    { header: headers.by, place: 'line', cell: (adjustment) => <By {...adjustment} /> },
  ]
  return (
    <DataTable
      caption={words.caption}
      columns={columns}
      rows={pages.rows}
      keyOf={({ adjustmentId }) => adjustmentId}
      pages={pages}
      empty={words.none}
    />
  )
}

function By({ actor, typedBy, approvedBy, approvalTypedBy, service, reversedReference }: Adjustment) {
  const { adjustments: words } = useWords().customers
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      {typedBy ?? actor ?? service}
      <Text size="xs" c="dimmed">
        {approvedBy && words.approvedBy(approvalTypedBy ?? approvedBy)}
        {reversedReference && words.reverses(reversedReference)}
      </Text>
    </div>
  )
}

const forms: Record<Act, RegExp> = { grantGoodwill: /^[1-9]\d{0,8}$/, correctBalance: /^[+-]?[1-9]\d{0,8}$/ }

type DialogProps = {
  name: Act
  adjustmentId: string
  customerId: string
  /** Undefined while they are loaded. */
  limits: Limits | undefined
  onClose(): void
  onDone(text: string): void
}

function AdjustDialog({ name, adjustmentId, customerId, limits, onClose, onDone }: DialogProps) {
  const { adjustments: words } = useWords().customers
  const { number } = useFormats()
  const [typed, setTyped] = useState('')
  const text = typed.trim().replaceAll(',', '')
  const isAcceptable = forms[name].test(text)
  const isBeyond = limits !== undefined && isAcceptable && Math.abs(Number(text)) > limits.approvalAbove
  const isRequest = isBeyond && limits.perDay > 0
  return (
    <ReasonDialog
      onClose={onClose}
      title={words[name]}
      text={words.texts[name]}
      action={isRequest ? words.request : words.actions[name]}
      isBlocked={!isAcceptable}
      focus="first"
      endpoint={name}
      refreshes={affectedByAdjustment}
      onDone={({ state }) => onDone(state === 'PENDING' ? words.requested : words.adjusted)}
      inputOf={(reason) => ({ params: { customerId }, body: { adjustmentId, credits: Number(text), reason } })}
    >
      <TextInput
        label={words.field}
        description={words.fieldHints[name]}
        error={text === '' || isAcceptable ? null : words.fieldHints[name]}
        inputMode={name === 'grantGoodwill' ? 'numeric' : 'text'}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        maxLength={14}
        required
      />
      <Text size="sm" role="status">
        {isRequest && words.needsApproval(number(limits.approvalAbove))}
      </Text>
    </ReasonDialog>
  )
}
