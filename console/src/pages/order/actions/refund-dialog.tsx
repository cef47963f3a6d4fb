// A refund in two deliberate steps: first what it would do now and why it is done, then the question once more. An answer
// that is not known yet is no failure: the page says so and what happens next.
import { Button, Group, Modal, Stack, Table, Text } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import type { ApiError, Data } from '../../../api/client.ts'
import { mayHaveHappened, useAction, useEndpoint } from '../../../api/hooks.ts'
import { Credits, Won } from '../../../format/amounts.tsx'
import { useFormats } from '../../../format/formats.ts'
import { Problem } from '../../../parts/problem.tsx'
import { useOpenings } from '../../../parts/reason-dialog.tsx'
import { isAcceptableReason, ReasonField } from '../../../parts/reason-field.tsx'
import { Waiting } from '../../../parts/waiting.tsx'
import { useWords } from '../../../words/words.tsx'
import { showingOrders } from '../../orders/showing-orders.ts'
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
      {/* Made anew each time it opens: with nothing typed, and a quote of now. */}
      <RefundSteps key={openings} {...props} onRunning={setIsRunning} />
    </Modal>
  )
}

type StepsProps = Props & { onRunning(isRunning: boolean): void }

function RefundSteps({ opened, orderId, onClose, onRefunded, onUnknown, onRunning }: StepsProps) {
  const [reason, setReason] = useState('')
  const [isSure, setIsSure] = useState(false)
  const params = { orderId }
  const quote = useEndpoint('refundQuote', { params }, { enabled: opened, isForDecision: true })
  const refund = useAction('refundOrder', { refreshes: showingOrders })

  const { isRunning } = refund
  useEffect(() => onRunning(isRunning), [isRunning, onRunning])

  async function act(): Promise<void> {
    const answer = await refund.run({ params, body: { reason: reason.trim() } })
    if (!answer) return
    onRefunded(answer)
    onClose()
  }

  if (refund.error && mayHaveHappened(refund.error)) return <NotKnown onClose={onClose} onUnknown={onUnknown} />
  if (quote.error && !quote.data) return <Problem error={quote.error} onRetry={() => void quote.refetch()} />
  if (!quote.data || (quote.isFetching && !isSure)) return <Waiting />
  return isSure ? (
    <Sure quote={quote.data} refund={refund} onBack={() => setIsSure(false)} onAct={() => void act()} />
  ) : (
    <Ask quote={quote.data} reason={reason} onReason={setReason} onClose={onClose} onContinue={() => setIsSure(true)} />
  )
}

type AskProps = {
  quote: Quote
  reason: string
  onReason(reason: string): void
  onClose(): void
  onContinue(): void
}

function Ask({ quote, reason, onReason, onClose, onContinue }: AskProps) {
  const { orders } = useWords()
  const { refund } = orders
  const [isTold, setIsTold] = useState(false)
  function submit(event: FormEvent): void {
    event.preventDefault()
    setIsTold(true)
    if (isAcceptableReason(reason)) onContinue()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <QuoteTable quote={quote} />
        <Text size="xs" c="dimmed">
          {refund.moving}
        </Text>
        <ReasonField value={reason} onChange={onReason} isTold={isTold} description={refund.reasonHint} ref={focused} />
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

type SureProps = {
  quote: Quote
  refund: { isRunning: boolean; error: ApiError | null }
  onBack(): void
  onAct(): void
}

function Sure({ quote, refund: { isRunning, error }, onBack, onAct }: SureProps) {
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
        {/* The focus stands on the way back: the money takes a second deliberate click. */}
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

function NotKnown({ onClose, onUnknown }: { onClose(): void; onUnknown(): void }) {
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
