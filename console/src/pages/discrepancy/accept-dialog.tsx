// Accepts that a part of a payment was cancelled at the gateway, in two steps: a preview with the number of credits and the reason,
// then the confirmation. The credits that the amount stands for are proposed. If something has moved in between, the dialog goes
// back to a new preview.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import type { ApiError, Data } from '../../api/client.ts'
import { isStateOutdated, useAction, useEndpoint } from '../../api/hooks.ts'
import { affectedByAcceptance } from '../../api/refreshes.ts'
import { Credits, Won } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { LinesTable } from '../../parts/lines-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useOpenings } from '../../parts/reason-dialog.tsx'
import { isAcceptableReason, ReasonField } from '../../parts/reason-field.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { useWords } from '../../words/words.tsx'
import { Notice } from '../order/notice.tsx'

type Quote = Data<'partQuote'>

type Props = {
  opened: boolean
  discrepancyId: string
  onClose(): void
  onAccepted(data: Data<'acceptDiscrepancy'>): void
}

export function AcceptDialog(props: Props) {
  const { discrepancy, common } = useWords()
  const [isRunning, setIsRunning] = useState(false)
  const openings = useOpenings(props.opened)
  const close = () => {
    if (!isRunning) props.onClose()
  }
  return (
    <Modal
      opened={props.opened}
      onClose={close}
      title={discrepancy.accept.title}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {/* A new instance each time it opens: with a new quote and its proposal. */}
      <AcceptSteps key={openings} {...props} onRunning={setIsRunning} />
    </Modal>
  )
}

type StepsProps = Props & { onRunning(isRunning: boolean): void }

function AcceptSteps({ opened, discrepancyId, onClose, onAccepted, onRunning }: StepsProps) {
  const [reason, setReason] = useState('')
  /** Null: the proposal. */
  const [typed, setTyped] = useState<string | null>(null)
  const [isConfirming, setIsConfirming] = useState(false)
  const params = { discrepancyId }
  const quote = useEndpoint('partQuote', { params }, { enabled: opened, isForDecision: true })
  const accept = useAction('acceptDiscrepancy', {
    refreshes: affectedByAcceptance,
    failed(error) {
      if (!isStateOutdated(error) && error.code !== 'VAL003') return
      setIsConfirming(false)
      void quote.refetch()
    },
  })
  const { isRunning } = accept
  useEffect(() => onRunning(isRunning), [isRunning, onRunning])

  async function act(credits: number): Promise<void> {
    const answer = await accept.run({ params, body: { credits, reason: reason.trim() } })
    if (!answer) return
    onAccepted(answer)
    onClose()
  }

  if (quote.isFetching && !isConfirming) return <Waiting />
  // A refusal that led to this quote says more than the quote that cannot be had.
  if (quote.error) return <Problem error={accept.error ?? quote.error} onRetry={() => void quote.refetch()} />
  if (!quote.data) return <Waiting />
  const text = (typed ?? `${quote.data.proposed}`).trim().replaceAll(',', '')
  const credits = /^\d{1,9}$/.test(text) ? Number(text) : null
  if (isConfirming && credits !== null)
    return (
      <Confirm
        quote={quote.data}
        credits={credits}
        accept={accept}
        onBack={() => setIsConfirming(false)}
        onAct={() => void act(credits)}
      />
    )
  return (
    <Preview
      quote={quote.data}
      typed={typed ?? `${quote.data.proposed}`}
      credits={credits}
      error={accept.error}
      reason={reason}
      onTyped={setTyped}
      onReason={setReason}
      onClose={onClose}
      onContinue={() => {
        accept.reset()
        setIsConfirming(true)
      }}
    />
  )
}

/** What is deducted less or more than the amount stands for, and what follows from it. */
function useDifference({ proposed, limits }: Quote, credits: number | null): { isRequest: boolean; texts: string[] } {
  const { accept } = useWords().discrepancy
  const { number } = useFormats()
  const difference = Math.abs(proposed - (credits ?? proposed))
  if (difference === 0) return { isRequest: false, texts: [] }
  const { perDay, usedToday, approvalAbove } = limits
  const text = credits !== null && credits < proposed ? accept.fewer : accept.more
  const isRequest = perDay > 0 && difference > approvalAbove
  const limit = isRequest ? accept.usesLimitOfApprover : accept.usesOwnLimit(number(usedToday), number(perDay))
  const texts = [
    `${text(number(difference))} ${limit}`,
    ...(isRequest ? [accept.needsApproval(number(approvalAbove))] : []),
  ]
  return { isRequest, texts }
}

type PreviewProps = {
  quote: Quote
  typed: string
  /** Null: not a number. */
  credits: number | null
  /** Why the last try failed. */
  error: ApiError | null
  reason: string
  onTyped(text: string): void
  onReason(reason: string): void
  onClose(): void
  onContinue(): void
}

function Preview({ quote, typed, credits, error, reason, onTyped, onReason, onClose, onContinue }: PreviewProps) {
  const { orders, discrepancy } = useWords()
  const { accept } = discrepancy
  const { number } = useFormats()
  const [showsError, setShowsError] = useState(false)
  const { texts } = useDifference(quote, credits)
  const { paid, amount, creditsOfTheOrder, creditsUsed, unused, proposed, most, valueAfter } = quote
  const isTooMany = credits !== null && credits > most
  const wrong = credits === null ? accept.creditsWrong : isTooMany ? accept.tooMany(number(most)) : null
  function submit(event: FormEvent): void {
    event.preventDefault()
    setShowsError(true)
    if (isAcceptableReason(reason) && wrong === null) onContinue()
  }
  const left = credits === null || isTooMany ? '–' : <Credits value={unused - credits} />
  const lines = [
    { label: orders.refund.paid, value: <Won value={paid} /> },
    { label: accept.returned, value: <Won value={amount} /> },
    { label: orders.refund.creditsOfOrder, value: <Credits value={creditsOfTheOrder} /> },
    ...(creditsUsed > 0 ? [{ label: orders.order.used, value: <Credits value={creditsUsed} /> }] : []),
    { label: accept.unusedNow, value: <Credits value={unused} /> },
    { label: accept.left, value: left },
    { label: accept.valueAfter, value: <Won value={valueAfter} /> },
  ]
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Problem error={error} />
        <Text size="sm">{accept.text}</Text>
        <TextInput
          label={accept.credits}
          description={accept.creditsHint(number(proposed), number(most))}
          error={wrong}
          errorProps={{ role: 'alert' }}
          inputMode="numeric"
          value={typed}
          onChange={(event) => onTyped(event.currentTarget.value)}
          maxLength={12}
          required
        />
        {wrong === null && texts.length > 0 && (
          <Text size="sm" role="status">
            {texts.join(' ')}
          </Text>
        )}
        <LinesTable title={accept.quoteTitle} lines={lines} />
        <ReasonField value={reason} onChange={onReason} showsError={showsError} ref={focused} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {orders.actions.cancel}
          </Button>
          <Button type="submit">{orders.refund.continue}</Button>
        </Group>
      </Stack>
    </form>
  )
}

type ConfirmProps = {
  quote: Quote
  credits: number
  accept: { isRunning: boolean; error: ApiError | null }
  onBack(): void
  onAct(): void
}

function Confirm({ quote, credits, accept: { isRunning, error }, onBack, onAct }: ConfirmProps) {
  const { orders, discrepancy } = useWords()
  const { accept } = discrepancy
  const { number, won } = useFormats()
  const { isRequest, texts } = useDifference(quote, credits)
  return (
    <Stack gap="sm">
      <Notice tone={isRequest ? 'waiting' : 'bad'} title={isRequest ? accept.sureRequest : accept.sureTitle}>
        <Text size="sm">{accept.sure(won(quote.amount), number(credits))}</Text>
        <Text size="sm">{accept.sureRest(number(quote.unused - credits), won(quote.valueAfter))}</Text>
        {texts.map((text) => (
          <Text size="sm" key={text}>
            {text}
          </Text>
        ))}
        {!isRequest && (
          <Text size="sm" fw={600}>
            {orders.refund.final}
          </Text>
        )}
      </Notice>
      {error && <Problem error={error} />}
      <Group justify="flex-end" gap="xs">
        {/* The focus is on Back: the acceptance needs a deliberate second click. */}
        <Button variant="default" onClick={onBack} disabled={isRunning} ref={focused}>
          {orders.actions.back}
        </Button>
        <Button color={isRequest ? undefined : 'red'} onClick={onAct} loading={isRunning}>
          {isRequest ? accept.request : accept.act}
        </Button>
      </Group>
    </Stack>
  )
}

function focused(element: HTMLElement | null): void {
  element?.focus()
}

/** Which of the two happened. */
export function AcceptedResult({ data, onClose }: { data: Data<'acceptDiscrepancy'>; onClose(): void }) {
  const { accept } = useWords().discrepancy
  const { number, won } = useFormats()
  const { state, amount, creditsTaken, value } = data
  const [returned, taken] = [won(amount), number(creditsTaken)]
  if (state === 'PENDING')
    return (
      <Notice isOutcome title={accept.requested} tone="waiting" onClose={onClose}>
        <Text size="sm">{accept.requestedText(returned, taken)}</Text>
      </Notice>
    )
  return (
    <Notice isOutcome title={accept.done} tone="good" onClose={onClose}>
      <Text size="sm">{accept.doneText(returned, taken)}</Text>
      <Text size="sm">{accept.doneRest(won(value))}</Text>
    </Notice>
  )
}
