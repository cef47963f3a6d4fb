// The adjustments of a customer: goodwill, corrections and reversals, newest first, and the requests that wait for a second
// operator. Each dialog has an id of its own, so a repeat of its request adjusts nothing twice.
import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import type { Data, EndpointName } from '../../api/client.ts'
import { useEndpoint, useMay, usePages, useSession } from '../../api/hooks.ts'
import { Credits } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'

type Adjustment = Data<'adjustments'>['adjustments'][number]
type Pending = Data<'adjustments'>['pending'][number]
type Act = 'grantGoodwill' | 'correctBalance'
type Decision = 'approveAdjustment' | 'rejectAdjustment'

const refreshes: EndpointName[] = ['adjustments', 'customer', 'customers', 'statement', 'home', 'actionLog']

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
              {words.limits(
                number(data.limits.perDay),
                number(data.limits.usedToday),
                number(data.limits.approvalAbove),
              )}
            </Text>
          )}
        </Group>
      )}
      {data && data.pending.length > 0 && <Requests pending={data.pending} onDone={done} />}
      <List pages={pages} />
      {act && (
        <AdjustDialog
          {...act}
          key={act.adjustmentId}
          customerId={customerId}
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

function By({ actor, approvedBy, service, reversedReference }: Adjustment) {
  const { adjustments: words } = useWords().customers
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      {actor ?? service}
      <Text size="xs" c="dimmed">
        {approvedBy && words.approvedBy(approvedBy)}
        {reversedReference && words.reverses(reversedReference)}
      </Text>
    </div>
  )
}

function Requests({ pending, onDone }: { pending: Pending[]; onDone(text: string): void }) {
  const { adjustments: words, statement } = useWords().customers
  const { columns: headers } = words
  const { number } = useFormats()
  const mayApprove = useMay('approve adjustments')
  const { name: own } = useSession()
  const [chosen, setChosen] = useState<{ decision: Decision; request: Pending } | null>(null)
  const columns: Column<Pending>[] = [
    { header: headers.time, place: 'line', cell: ({ requestedAt }) => <Time at={requestedAt} /> },
    { header: headers.kind, place: 'title', cell: ({ kind }) => statement.entryKinds[kind] },
    {
      header: headers.credits,
      place: 'amount',
      align: 'right',
      cell: ({ credits }) => <Credits value={credits} signed />,
    },
    { header: headers.reason, cell: ({ reason }) => reason },
    { header: headers.by, place: 'line', cell: ({ requestedBy }) => requestedBy },
    ...(mayApprove
      ? [
          {
            header: headers.actions,
            cell: (request: Pending) => (
              <Group gap="xs" wrap="nowrap">
                {(['approveAdjustment', 'rejectAdjustment'] as const)
                  // A request is approved by another operator.
                  .filter((decision) => decision === 'rejectAdjustment' || request.requestedBy !== own)
                  .map((decision) => (
                    <Button
                      key={decision}
                      size="compact-sm"
                      variant="default"
                      aria-label={words.decisionOf[decision](number(request.credits))}
                      onClick={() => setChosen({ decision, request })}
                    >
                      {words[decision]}
                    </Button>
                  ))}
              </Group>
            ),
          },
        ]
      : []),
  ]
  return (
    <div>
      <Title order={3} size="h5" mb={6}>
        {words.pending}
      </Title>
      <DataTable caption={words.pending} columns={columns} rows={pending} keyOf={({ adjustmentId }) => adjustmentId} />
      {chosen && (
        <ReasonDialog
          onClose={() => setChosen(null)}
          title={words.decisionOf[chosen.decision](number(chosen.request.credits))}
          text={chosen.request.reason}
          action={words[chosen.decision]}
          isDestructive={chosen.decision === 'rejectAdjustment'}
          endpoint={chosen.decision}
          inputOf={(reason) => ({ params: { adjustmentId: chosen.request.adjustmentId }, body: { reason } })}
          refreshes={refreshes}
          onDone={() => onDone(words.decided[chosen.decision])}
        />
      )}
    </div>
  )
}

const forms: Record<Act, RegExp> = { grantGoodwill: /^[1-9]\d{0,8}$/, correctBalance: /^[+-]?[1-9]\d{0,8}$/ }

type DialogProps = {
  name: Act
  adjustmentId: string
  customerId: string
  onClose(): void
  onDone(text: string): void
}

function AdjustDialog({ name, adjustmentId, customerId, onClose, onDone }: DialogProps) {
  const { adjustments: words } = useWords().customers
  const [typed, setTyped] = useState('')
  const text = typed.trim().replaceAll(',', '')
  const isAcceptable = forms[name].test(text)
  return (
    <ReasonDialog
      onClose={onClose}
      title={words[name]}
      text={words.texts[name]}
      action={words.actions[name]}
      isBlocked={!isAcceptable}
      focus="first"
      endpoint={name}
      refreshes={refreshes}
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
    </ReasonDialog>
  )
}
