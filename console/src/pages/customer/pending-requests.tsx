// Requests that wait for a second operator: adjustments, and parts that were cancelled at the gateway. A request is approved by
// another operator than the one who made it.
import { Anchor, Button, Group, Title } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useMay, useSession } from '../../api/hooks.ts'
import { affectedByAcceptance, affectedByAdjustment } from '../../api/refreshes.ts'
import { Credits } from '../../format/amounts.tsx'
import { type Formats, useFormats } from '../../format/formats.ts'
import { shortened } from '../../format/id.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { useWords, type Words } from '../../words/words.tsx'

export type PendingRequest = Data<'adjustments'>['pending'][number]
type Decision = 'approveAdjustment' | 'rejectAdjustment'

/** What a request is about. */
function requestText(
  { kind, orderId, credits, amount }: PendingRequest,
  { customers: { adjustments, statement } }: Words,
  { number, won }: Formats,
): string {
  if (kind !== 'PART') return statement.entryKinds[kind]
  return adjustments.part.text(shortened(orderId ?? ''), number(credits), won(amount ?? 0))
}

/** With the sign of the change that it asks for. */
export const changeOf = ({ kind, credits }: PendingRequest) => (kind === 'PART' ? 0 - credits : credits)

export function PendingRequests({ pending, onDone }: { pending: PendingRequest[]; onDone(text: string): void }) {
  const { adjustments: words } = useWords().customers
  const { columns: headers } = words
  const { number } = useFormats()
  const mayApprove = useMay('approve adjustments')
  const { name: own } = useSession()
  const [chosen, setChosen] = useState<{ decision: Decision; request: PendingRequest } | null>(null)
  const textsOf = ({ kind }: PendingRequest) => (kind === 'PART' ? words.part : words)
  const titleOf = (decision: Decision, request: PendingRequest) =>
    textsOf(request).decisionOf[decision](number(request.credits))
  const columns: Column<PendingRequest>[] = [
    { header: headers.time, place: 'line', cell: ({ requestedAt }) => <Time at={requestedAt} /> },
    { header: headers.kind, place: 'title', cell: (request) => <RequestSubject request={request} /> },
    {
      header: headers.credits,
      place: 'amount',
      align: 'right',
      cell: (request) => <Credits value={changeOf(request)} signed />,
    },
    { header: headers.reason, cell: ({ reason }) => reason },
    { header: headers.by, place: 'line', cell: ({ requestedBy, typedBy }) => typedBy ?? requestedBy },
    ...(mayApprove
      ? [
          {
            header: headers.actions,
            cell: (request: PendingRequest) => (
              <Group gap="xs" wrap="nowrap">
                {(['approveAdjustment', 'rejectAdjustment'] as const)
                  .filter((decision) => decision === 'rejectAdjustment' || request.requestedBy !== own)
                  .map((decision) => (
                    <Button
                      key={decision}
                      size="compact-sm"
                      variant="default"
                      aria-label={titleOf(decision, request)}
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
          title={titleOf(chosen.decision, chosen.request)}
          text={chosen.request.reason}
          action={words[chosen.decision]}
          isDestructive={chosen.decision === 'rejectAdjustment'}
          endpoint={chosen.decision}
          inputOf={(reason) => ({ params: { adjustmentId: chosen.request.adjustmentId }, body: { reason } })}
          refreshes={chosen.request.kind === 'PART' ? affectedByAcceptance : affectedByAdjustment}
          onDone={() => onDone(textsOf(chosen.request).decided[chosen.decision])}
        />
      )}
    </div>
  )
}

export function RequestSubject({ request }: { request: PendingRequest }) {
  const words = useWords()
  const text = requestText(request, words, useFormats())
  if (request.kind !== 'PART') return text
  return (
    <Anchor component={Link} href={`/orders/${request.orderId}`} inherit>
      {text}
    </Anchor>
  )
}
