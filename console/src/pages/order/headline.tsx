// The summary of an order: status, amount, credits and what is left of them, customer, times, payment key and card slip.
import { Anchor, Group, Paper, SimpleGrid, Text, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { Credits, Won } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { paidWithText } from '../../format/paid-with.ts'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { useWords } from '../../words/words.tsx'
import classes from './headline.module.css'
import { meaningOf } from './meaning.ts'
import { meaningOfCode } from './timeline/gateway-code.ts'
import { nameOf } from './timeline/moment-text.ts'

export type Order = Data<'order'>['order']

type Lot = NonNullable<Data<'order'>['lot']>

export function Headline({ page }: { page: Data<'order'> }) {
  const { order, lot, openDiscrepancies } = page
  const allWords = useWords()
  const { order: words, nameless } = allWords.orders
  const mayRefund = useMay('refund')
  const { status, failure, ended, amount, credits, packageType, customerId, customerName, paymentKey } = order
  const { createdAt, confirmedAt, paidWith, cardNumber, approvalNumber, receiptUrl, paymentUrl } = order
  const { refundShortfall } = order
  const { won } = useFormats()
  const atGateway = openDiscrepancies.reduce((sum, each) => sum + Math.min(each.amount ?? 0, 0), amount)
  return (
    <Paper component="section" withBorder p="md" aria-label={words.title}>
      <Group gap="sm" mb={ended ? 'xs' : 'md'} wrap="nowrap" align="flex-start">
        <StatusBadge status={status} failure={failure?.reason ?? null} />
        <div>
          {ended ? <EndedText ended={ended} /> : <Text>{meaningOf(page, allWords)}</Text>}
          {order.parts && <PartsText parts={order.parts} status={status} hasRest={lot !== null && lot.value > 0} />}
          {failure?.gatewayCode && (
            <Text size="sm" c="dimmed">
              {meaningOfCode(allWords, failure.gatewayCode)}
            </Text>
          )}
        </div>
      </Group>
      <SimpleGrid component="dl" cols={{ base: 1, xs: 2, md: 4 }} spacing="md" verticalSpacing="sm" m={0}>
        <Fact label={words.amount}>
          <Text span fz="lg" fw={600}>
            <Won value={amount} />
          </Text>
        </Fact>
        <Fact label={words.credits}>
          <Text span fz="lg" fw={600}>
            <Credits value={credits} />
          </Text>
        </Fact>
        <Fact label={words.package}>{packageType}</Fact>
        <Fact label={words.customer}>
          <Anchor component={Link} href={`/customers/${customerId}`}>
            {customerName ?? nameless}
          </Anchor>
        </Fact>
        <Fact label={words.created}>
          <Time at={createdAt} />
        </Fact>
        <Fact label={words.confirmed}>{confirmedAt ? <Time at={confirmedAt} /> : words.notConfirmed}</Fact>
        <Fact label={words.paymentKey} wide>
          {paymentKey ? <Id value={paymentKey} /> : words.noPaymentKey}
          {paymentKey && !mayRefund && (
            <Text size="xs" c="dimmed">
              {words.paymentKeyHint}
            </Text>
          )}
        </Fact>
        {paymentUrl && mayRefund && (
          <Fact label={words.payment}>
            <PaymentLink url={paymentUrl} />
          </Fact>
        )}
        {paidWith && <Fact label={words.paidWith}>{paidWithText(allWords, won, paidWith)}</Fact>}
        {cardNumber && <Fact label={words.card}>{cardNumber}</Fact>}
        {approvalNumber && <Fact label={words.approvalNumber}>{approvalNumber}</Fact>}
        {receiptUrl && (
          <Fact label={words.receipt}>
            {mayRefund ? (
              <Anchor href={receiptUrl} target="_blank" rel="noreferrer noopener">
                {words.openReceipt}
              </Anchor>
            ) : (
              <Text size="xs" c="dimmed">
                {words.receiptHint}
              </Text>
            )}
          </Fact>
        )}
        {lot && <Rest lot={lot} atGateway={atGateway} />}
        {refundShortfall !== null && refundShortfall > 0 && (
          <Fact label={words.kept} wide>
            <Credits value={refundShortfall} />
            <Text size="xs" c="dimmed">
              {words.keptHint}
            </Text>
          </Fact>
        )}
      </SimpleGrid>
    </Paper>
  )
}

/** When, by whom, why and how much. */
function EndedText({ ended }: { ended: NonNullable<Order['ended']> }) {
  const { orders, timeline } = useWords()
  const { order: words } = orders
  const { number, won } = useFormats()
  const { at, by, operator, keyLastFour, reason, amount, credits } = ended
  const name = nameOf(operator ?? '')
  const notes = [
    keyLastFour && words.withKey(keyLastFour),
    by === 'gateway' && operator && words.acceptedBy(name),
    reason && !(reason in timeline.reasons) && timeline.reason(reason),
  ]
  return (
    <>
      <Text>{words.ended[by](won(amount), number(credits), name)}</Text>
      <Text size="sm" c="dimmed">
        <Time at={at} />
        {notes.filter((note) => !!note).map((note) => ` · ${note}`)}
      </Text>
    </>
  )
}

type PartsProps = { parts: NonNullable<Order['parts']>; status: Order['status']; hasRest: boolean }

function PartsText({ parts, status, hasRest }: PartsProps) {
  const { parts: words } = useWords().orders.order
  const { number, won } = useFormats()
  const ofConfirmed = hasRest ? words.CONFIRMED : words.nothingLeft
  const text = status === 'CONFIRMED' ? ofConfirmed : words.before
  return <Text>{text(won(parts.amount), number(parts.credits))}</Text>
}

export function PaymentLink({ url }: { url: string }) {
  const { order: words } = useWords().orders
  return (
    <Anchor href={url} target="_blank" rel="noreferrer noopener" inherit>
      {words.openPayment}
      <VisuallyHidden>{` (${words.newTab})`}</VisuallyHidden>
    </Anchor>
  )
}

/**
 * What became of the credits. Those of an order that is closed have no value. `atGateway`: what the gateway has
 * of the payment, as far as it has less than our books.
 */
function Rest({ lot, atGateway }: { lot: Lot; atGateway: number }) {
  const { status, used, held, unused, takenBack, value, refundedAmount } = lot
  const { order: words } = useWords().orders
  const { won } = useFormats()
  const most = Math.max(0, atGateway - (refundedAmount ?? 0))
  return (
    <>
      <Fact label={words.used}>
        <Credits value={used} />
        <Text size="xs" c="dimmed">
          {words.usedHint}
        </Text>
      </Fact>
      {held > 0 && (
        <Fact label={words.held}>
          <Credits value={held} />
        </Fact>
      )}
      <Fact label={words.unused}>
        <Credits value={unused} />
      </Fact>
      {takenBack > 0 && (
        <Fact label={words.takenBack}>
          <Credits value={takenBack} />
        </Fact>
      )}
      {status === 'CONFIRMED' && (
        <Fact label={words.value}>
          <Won value={value} />
          <Text size="xs" c="dimmed">
            {refundedAmount === null ? words.valueHint : words.valueHintOfRest}
          </Text>
          {most < value && <Text size="xs">{words.valueAtMost(won(most))}</Text>}
        </Fact>
      )}
    </>
  )
}

export function Fact({ label, wide = false, children }: { label: string; wide?: boolean; children: ReactNode }) {
  return (
    <div className={classes.fact} data-wide={wide || undefined}>
      <Text component="dt" size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="dd">{children}</Text>
    </div>
  )
}
