// A refund of the unused part or of the full price, in two steps: a preview with the reason, then the confirmation. If
// credits have moved in between, the dialog goes back to a new preview. An unknown outcome is not a failure: the dialog says
// so and what happens next.
import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import type { RefundRefusal } from '../../../../../src/payments/refusals.ts'
import type { ApiError, Data } from '../../../api/client.ts'
import { mayHaveHappened, useAction, useEndpoint } from '../../../api/hooks.ts'
import { affectedByOrderAction } from '../../../api/refreshes.ts'
import { Credits, Won } from '../../../format/amounts.tsx'
import { useFormats } from '../../../format/formats.ts'
import { LinesTable } from '../../../parts/lines-table.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { useOpenings } from '../../../parts/reason-dialog.tsx'
import { isAcceptableReason, ReasonField } from '../../../parts/reason-field.tsx'
import { Waiting } from '../../../parts/waiting.tsx'
import type { ProblemText } from '../../../words/en/problems.ts'
import { useWords } from '../../../words/words.tsx'
import type { Order } from '../headline.tsx'
import { Notice } from '../notice.tsx'
import { refundRuleText } from '../refund-rule.ts'
import { meaningOfCode } from '../timeline/gateway-code.ts'

type Quote = Data<'refundQuote'>
type Extent = 'unused' | 'full'

/** What a refund will do. `back` null: the gateway has not said what is left of the payment. */
type Plan = {
  extent: Extent
  back: number | null
  taken: number
  kept: number
  /** Only for a refund of the unused part. */
  quoted?: { amount: number; credits: number }
}

function planOf({ unused, backToTheCard, creditsTakenBack, shortfall }: Quote, extent: Extent): Plan {
  if (!unused || extent === 'full')
    return { extent: 'full', back: backToTheCard, taken: creditsTakenBack, kept: shortfall }
  const { amount, credits } = unused
  return {
    extent,
    back: amount,
    taken: credits,
    kept: creditsTakenBack + shortfall - credits,
    quoted: { amount, credits },
  }
}

/** Refusals because credits have moved since the quote. */
const outdatedQuote: (string | null)[] = [
  'changed',
  'nothing left',
  'below the smallest amount',
  'credits held',
] satisfies RefundRefusal[]

type Props = {
  opened: boolean
  order: Order
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

function RefundSteps({
  opened,
  order: { orderId, amount, customerName },
  onClose,
  onRefunded,
  onUnknown,
  onRunning,
}: StepsProps) {
  const [reason, setReason] = useState('')
  const [extent, setExtent] = useState<Extent>('unused')
  const [isConfirming, setIsConfirming] = useState(false)
  const { orders } = useWords()
  const { won } = useFormats()
  const params = { orderId }
  const quote = useEndpoint('refundQuote', { params }, { enabled: opened, isForDecision: true })
  const options = {
    refreshes: affectedByOrderAction,
    failed(error: ApiError) {
      if (!outdatedQuote.includes(error.reason)) return
      setIsConfirming(false)
      void quote.refetch()
    },
  }
  const ofFullPrice = useAction('refundOrder', options)
  const ofUnusedPart = useAction('refundUnused', options)
  const refund = {
    isRunning: ofFullPrice.isRunning || ofUnusedPart.isRunning,
    error: ofFullPrice.error ?? ofUnusedPart.error,
    reset() {
      ofFullPrice.reset()
      ofUnusedPart.reset()
    },
  }

  const { isRunning } = refund
  useEffect(() => onRunning(isRunning), [isRunning, onRunning])

  async function act({ quoted }: Plan): Promise<void> {
    const body = { reason: reason.trim() }
    const answer = await (quoted
      ? ofUnusedPart.run({ params, body: { ...body, ...quoted } })
      : ofFullPrice.run({ params, body }))
    if (!answer) return
    onRefunded(answer)
    onClose()
  }

  if (refund.error && mayHaveHappened(refund.error)) return <OutcomeUnknown onClose={onClose} onUnknown={onUnknown} />
  if (quote.isFetching && !isConfirming) return <Waiting />
  if (quote.error) return <Problem error={quote.error} onRetry={() => void quote.refetch()} />
  if (!quote.data) return <Waiting />
  const plan = planOf(quote.data, extent)
  const step = isConfirming ? (
    <Confirm plan={plan} refund={refund} onBack={() => setIsConfirming(false)} onAct={() => void act(plan)} />
  ) : (
    <Preview
      quote={quote.data}
      plan={plan}
      error={refund.error}
      reason={reason}
      onExtent={setExtent}
      onReason={setReason}
      onClose={onClose}
      onContinue={() => {
        refund.reset()
        setIsConfirming(true)
      }}
    />
  )
  return (
    <Stack gap="sm">
      <Text size="sm" fw={600}>
        {orders.refund.of(won(amount), customerName ?? orders.nameless)}
      </Text>
      {step}
    </Stack>
  )
}

type PreviewProps = {
  quote: Quote
  plan: Plan
  /** Why the last try failed. */
  error: ApiError | null
  reason: string
  onExtent(extent: Extent): void
  onReason(reason: string): void
  onClose(): void
  onContinue(): void
}

function Preview({ quote, plan, error, reason, onExtent, onReason, onClose, onContinue }: PreviewProps) {
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
        <Problem error={error} />
        <ExtentChoice quote={quote} extent={plan.extent} onExtent={onExtent} />
        <QuoteTable quote={quote} plan={plan} />
        <Text size="xs" c="dimmed">
          {plan.extent === 'full' ? refund.moving : refund.movingUnused}
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

type ChoiceProps = { quote: Quote; extent: Extent; onExtent(extent: Extent): void }

/** Nothing to choose when nothing was used, or when only a full refund is possible. */
function ExtentChoice({ quote, extent, onExtent }: ChoiceProps) {
  const words = useWords()
  const formats = useFormats()
  const { orders, problems } = words
  const { refund } = orders
  const { unused, unusedRefusal } = quote
  const hints = { unused: refund.unusedHint, full: refund.fullHint }
  if (!unused) {
    const { title, hint } = (problems.reasons as Record<string, ProblemText>)[unusedRefusal ?? ''] ?? problems.other
    return (
      <Notice tone="waiting" title={refund.partRefused}>
        <Text size="sm">{[title, hint].join(' ')}</Text>
        <Text size="sm" mt="xs">
          {refund.onlyFull}
        </Text>
      </Notice>
    )
  }
  const rule = (
    <Text size="xs" c="dimmed">
      {refundRuleText(words, formats, unused.terms)}
    </Text>
  )
  if (unused.rule === 'full price') {
    return (
      <>
        <Text size="sm">{refund.nothingUsed}</Text>
        {rule}
      </>
    )
  }
  return (
    <Stack gap="xs">
      <Radio.Group label={refund.extent} value={extent} onChange={(chosen) => onExtent(chosen as Extent)}>
        <Stack gap="xs" mt="xs">
          {(['unused', 'full'] as const).map((each) => (
            <Radio key={each} value={each} label={refund.extents[each]} description={hints[each]} />
          ))}
        </Stack>
      </Radio.Group>
      {rule}
    </Stack>
  )
}

function QuoteTable({ quote, plan }: { quote: Quote; plan: Plan }) {
  const words = useWords()
  const { refund } = words.orders
  const { paid, backToTheCard, gatewayCode, creditsOfTheOrder, creditsTakenBack, shortfall, unused } = quote
  const share = plan.extent === 'unused' && unused && unused.value !== unused.amount ? unused.value : null
  const returned = paid - (backToTheCard ?? paid)
  const takenBefore = creditsOfTheOrder - creditsTakenBack - shortfall
  const back =
    plan.back === null ? (
      <>
        {refund.backUnknown}
        {gatewayCode && (
          <Text size="xs" c="dimmed">
            {meaningOfCode(words, gatewayCode)}
          </Text>
        )}
      </>
    ) : (
      <Won value={plan.back} />
    )
  const lines = [
    { label: refund.paid, value: <Won value={paid} /> },
    ...(returned > 0 ? [{ label: refund.alreadyReturned, value: <Won value={returned} /> }] : []),
    ...(share === null ? [] : [{ label: refund.valueUnused, value: <Won value={share} /> }]),
    { label: refund.backToCard, value: back },
    { label: refund.creditsOfOrder, value: <Credits value={creditsOfTheOrder} /> },
    ...(takenBefore > 0 ? [{ label: refund.takenBefore, value: <Credits value={takenBefore} /> }] : []),
    { label: refund.takenBack, value: <Credits value={plan.taken} /> },
    ...(plan.kept > 0 ? [{ label: refund.kept[plan.extent], value: <Credits value={plan.kept} /> }] : []),
  ]
  return <LinesTable title={refund.quoteTitle} lines={lines} />
}

type ConfirmProps = {
  plan: Plan
  refund: { isRunning: boolean; error: ApiError | null }
  onBack(): void
  onAct(): void
}

function Confirm({ plan: { extent, back, taken, kept }, refund: { isRunning, error }, onBack, onAct }: ConfirmProps) {
  const { orders } = useWords()
  const { refund } = orders
  const { number, won } = useFormats()
  const credits = number(taken)
  return (
    <Stack gap="sm">
      <Notice tone="bad" title={refund.sureTitle[extent]}>
        <Text size="sm">{back === null ? refund.sureUnknown(credits) : refund.sure(won(back), credits)}</Text>
        {kept > 0 && <Text size="sm">{refund.sureKept[extent](number(kept))}</Text>}
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
