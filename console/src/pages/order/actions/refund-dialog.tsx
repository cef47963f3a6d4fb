// A refund in two steps: a preview with the reason, then the confirmation. An unknown outcome is not a failure: the dialog says so
// and what happens next.
import { Button, Group, Modal, Stack, Table, Text } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import type { ApiError, Data } from '../../../api/client.ts'
import { mayHaveHappened, useAction, useEndpoint } from '../../../api/hooks.ts'
import { affectedByOrderAction } from '../../../api/refreshes.ts'
import { Credits, Won } from '../../../format/amounts.tsx'
import { useFormats } from '../../../format/formats.ts'
import { Problem } from '../../../parts/problem.tsx'
import { useOpenings } from '../../../parts/reason-dialog.tsx'
import { isAcceptableReason, ReasonField } from '../../../parts/reason-field.tsx'
import { Waiting } from '../../../parts/waiting.tsx'
import { useWords } from '../../../words/words.tsx'
import { Notice } from '../notice.tsx'
import { meaningOfCode } from '../timeline/gateway-code.ts'

type Quote = Data<'refundQuote'>
type Props = {
  opened: boolean
  orderId: string
  onClose(): void
  onRefunded(data: Data<'refundOrder'>): void
  onUnknown(): void
}

export function RefundDialog(props: Props) {
  const { orders, common } = useWords()
  const [isRunning, setIsRunning] = useState(false)
  const openings = useOpenings(props.opened)
  const close = () => {
    if (!isRunning) props.onClose()
  }
  return (
    <Modal
      opened={props.opened}
      onClose={close}
      title={orders.refund.title}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {/* A new instance each time it opens: empty, with a new quote. */}
      <RefundSteps key={openings} {...props} onRunning={setIsRunning} />
    </Modal>
  )
}

type StepsProps = Props & { onRunning(isRunning: boolean): void }

function RefundSteps({ opened, orderId, onClose, onRefunded, onUnknown, onRunning }: StepsProps) {
  const [reason, setReason] = useState('')
  const [isConfirming, setIsConfirming] = useState(false)
  const params = { orderId }
  const quote = useEndpoint('refundQuote', { params }, { enabled: opened, isForDecision: true })
  const refund = useAction('refundOrder', { refreshes: affectedByOrderAction })

  const { isRunning } = refund
  useEffect(() => onRunning(isRunning), [isRunning, onRunning])

  async function act(): Promise<void> {
    const answer = await refund.run({ params, body: { reason: reason.trim() } })
    if (!answer) return
    onRefunded(answer)
    onClose()
  }

  if (refund.error && mayHaveHappened(refund.error)) return <OutcomeUnknown onClose={onClose} onUnknown={onUnknown} />
  if (quote.error && !quote.data) return <Problem error={quote.error} onRetry={() => void quote.refetch()} />
  if (!quote.data || (quote.isFetching && !isConfirming)) return <Waiting />
  return isConfirming ? (
    <Confirm quote={quote.data} refund={refund} onBack={() => setIsConfirming(false)} onAct={() => void act()} />
  ) : (
    <Preview
      quote={quote.data}
      reason={reason}
      onReason={setReason}
      onClose={onClose}
      onContinue={() => setIsConfirming(true)}
    />
  )
}

type PreviewProps = {
  quote: Quote
  reason: string
  onReason(reason: string): void
  onClose(): void
  onContinue(): void
}

function Preview({ quote, reason, onReason, onClose, onContinue }: PreviewProps) {
  const { orders } = useWords()
  const { refund } = orders
  const [showsError, setShowsError] = useState(false)
  function submit(event: FormEvent): void {
    event.preventDefault()
    setShowsError(true)
    if (isAcceptableReason(reason)) onContinue()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <QuoteTable quote={quote} />
        <Text size="xs" c="dimmed">
          {refund.moving}
        </Text>
        <ReasonField
          value={reason}
          onChange={onReason}
          showsError={showsError}
          description={refund.reasonHint}
          ref={focused}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {orders.actions.cancel}
          </Button>
          <Button type="submit">{refund.continue}</Button>
        </Group>
      </Stack>
    </form>
  )
}

function QuoteTable({ quote }: { quote: Quote }) {
  const words = useWords()
  const { refund } = words.orders
  const { paid, backToTheCard, gatewayCode, creditsOfTheOrder, creditsTakenBack, shortfall } = quote
  const back =
    backToTheCard === null ? (
      <>
        {refund.backUnknown}
        {gatewayCode && (
          <Text size="xs" c="dimmed">
            {meaningOfCode(words, gatewayCode)}
          </Text>
        )}
      </>
    ) : (
      <Won value={backToTheCard} />
    )
  const lines = [
    { label: refund.paid, value: <Won value={paid} /> },
    { label: refund.backToCard, value: back },
    { label: refund.creditsOfOrder, value: <Credits value={creditsOfTheOrder} /> },
    { label: refund.takenBack, value: <Credits value={creditsTakenBack} /> },
    ...(shortfall > 0 ? [{ label: refund.shortfall, value: <Credits value={shortfall} /> }] : []),
  ]
  return (
    <Table aria-label={refund.quoteTitle} captionSide="top">
      <Table.Caption ta="left">{refund.quoteTitle}</Table.Caption>
      <Table.Tbody>
        {lines.map(({ label, value }) => (
          <Table.Tr key={label}>
            <Table.Th scope="row" fw={400}>
              {label}
            </Table.Th>
            <Table.Td ta="right" fw={600}>
              {value}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

type ConfirmProps = {
  quote: Quote
  refund: { isRunning: boolean; error: ApiError | null }
  onBack(): void
  onAct(): void
}

function Confirm({ quote, refund: { isRunning, error }, onBack, onAct }: ConfirmProps) {
  const { orders } = useWords()
  const { refund } = orders
  const { number, won } = useFormats()
  const taken = number(quote.creditsTakenBack)
  const { backToTheCard: back, shortfall } = quote
  return (
    <Stack gap="sm">
      <Notice tone="bad" title={refund.sureTitle}>
        <Text size="sm">{back === null ? refund.sureUnknown(taken) : refund.sure(won(back), taken)}</Text>
        {shortfall > 0 && <Text size="sm">{refund.sureShortfall(number(shortfall))}</Text>}
        <Text size="sm" fw={600}>
          {refund.final}
        </Text>
      </Notice>
      {error && <Problem error={error} />}
      <Group justify="flex-end" gap="xs">
        {/* The focus is on Back: the refund needs a deliberate second click. */}
        <Button variant="default" onClick={onBack} disabled={isRunning} ref={focused}>
          {orders.actions.back}
        </Button>
        <Button color="red" onClick={onAct} loading={isRunning}>
          {refund.act}
        </Button>
      </Group>
    </Stack>
  )
}

function focused(element: HTMLElement | null): void {
  element?.focus()
}

function OutcomeUnknown({ onClose, onUnknown }: { onClose(): void; onUnknown(): void }) {
  const { orders } = useWords()
  const { refund } = orders
  return (
    <Stack gap="sm">
      <Notice tone="waiting" title={refund.unknown}>
        <Text size="sm">{refund.unknownText}</Text>
      </Notice>
      <Group justify="flex-end">
        <Button
          ref={focused}
          onClick={() => {
            onUnknown()
            onClose()
          }}
        >
          {orders.actions.close}
        </Button>
      </Group>
    </Stack>
  )
}
