// What needs attention: payments in progress, discrepancies, adjustments to approve, undelivered events, an audit with
// violations or overdue, and the state of the gateway. Each links to the page where it is handled. What is quiet is one line.
import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { Credits, Won } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge, type Tone } from '../../format/status-badge.tsx'
import { Age, Time } from '../../format/time.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { useWords } from '../../words/words.tsx'
import { AuditResult } from '../books/audits/audit-result.tsx'
import { changeOf, RequestSubject } from '../customer/pending-requests.tsx'
import { meaningOfCode } from '../order/timeline/gateway-code.ts'
import classes from './home.module.css'

type Home = Data<'home'>
type Operation = Home['operations']['oldest'][number]
type Discrepancy = Home['discrepancies']['oldest'][number]

/** A card if it needs attention, else a part of the one line below the cards. */
type Item = {
  name: string
  needsAttention: boolean
  badge: ReactNode
  text: ReactNode
  /** Its text in that line. */
  quiet: string
  href: string
}

export function Attention({ data }: { data: Home }) {
  const { home } = useWords()
  const { operations, discrepancies, pendingAdjustments } = data
  const items = useItems(data)
  const cards = items.filter(({ needsAttention }) => needsAttention)
  const quiet = items.filter(({ needsAttention }) => !needsAttention)
  return (
    <section aria-labelledby="attention">
      <Title order={2} size="h4" mb="sm" id="attention">
        {home.attention}
      </Title>
      <Stack gap="md">
        {cards.length === 0 && pendingAdjustments.length === 0 && <Text size="sm">{home.allWell}</Text>}
        {cards.length > 0 && (
          <div className={classes.cards}>
            {cards.map((item) => (
              <ItemCard key={item.name} {...item} />
            ))}
          </div>
        )}
        {operations.count > 0 && <Operations {...operations} />}
        {discrepancies.count > 0 && <Discrepancies {...discrepancies} />}
        {pendingAdjustments.length > 0 && <PendingAdjustments pending={pendingAdjustments} />}
        {quiet.length > 0 && (
          <Text size="xs" c="dimmed">
            {quiet.map(({ quiet: text }) => text).join(' · ')}
          </Text>
        )}
      </Stack>
    </section>
  )
}

const gatewayTones: Record<Home['gateway']['state'], Tone> = {
  untried: 'over',
  answering: 'good',
  failing: 'bad',
  'refusing our credentials': 'bad',
}

function useItems(data: Home): Item[] {
  const { operations, discrepancies, events, waitingNotifications } = data
  const { home } = useWords()
  const { number, age, won } = useFormats()
  const count = (value: number) => <StatusBadge status="count" label={number(value)} tone="waiting" />
  return [
    useGatewayItem(data.gateway),
    {
      name: home.operations,
      needsAttention: operations.count > 0,
      badge: count(operations.count),
      text: home.operationsHint(number(operations.count)),
      quiet: home.noOperations,
      href: '/orders?open=yes',
    },
    {
      name: home.discrepancies,
      needsAttention: discrepancies.count > 0,
      badge: count(discrepancies.count),
      text:
        discrepancies.amount === null
          ? home.discrepanciesHint
          : home.discrepanciesSum(
              won(discrepancies.amount),
              discrepancies.withoutAmount > 0 ? number(discrepancies.withoutAmount) : null,
            ),
      quiet: home.noDiscrepancies,
      href: '/books?tab=discrepancies',
    },
    useAuditItem(data),
    {
      name: home.events,
      needsAttention: events.undelivered + events.dead > 0,
      badge: count(events.undelivered + events.dead),
      text: [
        ...(events.undelivered === 0 ? [] : [home.undelivered(number(events.undelivered))]),
        ...(events.oldestSeconds === null ? [] : [home.oldestWaits(age(events.oldestSeconds))]),
        ...(events.dead === 0 ? [] : [home.dead(number(events.dead))]),
      ].join(', '),
      quiet: home.noBacklog,
      href: '/events',
    },
    {
      name: home.notifications,
      needsAttention: waitingNotifications > 0,
      badge: count(waitingNotifications),
      text: home.waiting(number(waitingNotifications)),
      quiet: home.noneWaiting,
      href: '/orders?open=yes',
    },
  ]
}

function useGatewayItem({ state, since, heldBack }: Home['gateway']): Item {
  const { home } = useWords()
  return {
    name: home.gateway,
    needsAttention: heldBack || gatewayTones[state] === 'bad',
    badge: <StatusBadge status={state} label={home.gatewayStates[state]} tone={gatewayTones[state]} />,
    text: (
      <>
        {heldBack ? home.heldBack : home.gatewayHints[state]}
        {since && (
          <div>
            {home.since} <Time at={since} />
          </div>
        )}
      </>
    ),
    quiet: home.gatewayQuiet[state === 'untried' ? 'untried' : 'answering'],
    href: '/orders?open=yes',
  }
}

/** Violations are shown before the age. */
function useAuditItem({ audit, isAuditOverdue: isOverdue }: Home): Item {
  const { audits } = useWords()
  const { number, age } = useFormats()
  const isBroken = audit !== null && audit.violationCount > 0
  const broken = (found: NonNullable<typeof audit>) =>
    found.isOnlyUnread
      ? audits.homeUnread(age(found.ageSeconds))
      : audits.homeBroken(number(found.violationCount), number(found.rules), age(found.ageSeconds))
  const clean = audit && audits.homeClean(number(audit.rules), age(audit.ageSeconds))
  return {
    name: audits.home,
    needsAttention: isOverdue || isBroken,
    badge: (
      <>
        {isBroken && <AuditResult {...audit} />}
        {isOverdue && <StatusBadge status="old" label={audits.old} tone="waiting" />}
      </>
    ),
    text: (
      <>
        {audit === null ? audits.homeNever : isBroken ? broken(audit) : clean}
        {audit && isOverdue && ` ${audits.homeOld}`}
        {audit && (
          <div>
            <Time at={audit.endedAt} />
          </div>
        )}
      </>
    ),
    quiet: clean ?? audits.homeNone,
    href: audit ? `/books/audits/${audit.auditId}` : '/books?tab=audits',
  }
}

function ItemCard({ name, badge, text, href }: Item) {
  return (
    <Paper withBorder p="sm" component={Link} href={href} className={classes.card} data-link>
      <Group justify="space-between" mb={4} gap={4}>
        <Text size="sm" fw={600}>
          {name}
        </Text>
        {badge}
      </Group>
      <Text size="xs" c="dimmed" component="div">
        {text}
      </Text>
    </Paper>
  )
}

function Operations({ oldest }: Home['operations']) {
  const words = useWords()
  const { home } = words
  return (
    <div>
      <Title order={3} size="h5" mb={6}>
        {home.operations}
      </Title>
      <DataTable<Operation>
        caption={home.operations}
        rows={oldest}
        keyOf={({ customerId, orderId, kind }) => `${customerId} ${orderId} ${kind}`}
        linkOf={({ orderId }) => `/orders/${encodeURIComponent(orderId)}`}
        columns={[
          { header: home.order, place: 'title', cell: ({ orderId }) => <Id value={orderId} short /> },
          { header: home.customer, place: 'line', cell: ({ customerName }) => customerName },
          { header: home.kind, place: 'line', cell: ({ kind }) => home.kinds[kind] ?? kind },
          { header: home.age, place: 'amount', cell: ({ ageSeconds }) => <Age seconds={ageSeconds} /> },
          { header: home.attempts, align: 'right', place: 'folded', cell: ({ attempts }) => attempts },
          {
            header: home.lastAnswer,
            place: 'folded',
            cell: ({ gatewayCode }) => gatewayCode && meaningOfCode(words, gatewayCode),
          },
          {
            header: home.nextAttempt,
            place: 'folded',
            cell: ({ nextAttemptAt }) => nextAttemptAt && <Time at={nextAttemptAt} />,
          },
        ]}
      />
    </div>
  )
}

function Discrepancies({ oldest }: Home['discrepancies']) {
  const { home, books } = useWords()
  const { kinds } = books.discrepancies
  return (
    <div>
      <Group justify="space-between" mb={6}>
        <Title order={3} size="h5">
          {home.discrepancies}
        </Title>
        <Anchor component={Link} href="/books?tab=discrepancies" size="sm">
          {home.all}
        </Anchor>
      </Group>
      <DataTable<Discrepancy>
        caption={home.discrepancies}
        rows={oldest}
        keyOf={({ discrepancyId }) => discrepancyId}
        linkOf={({ discrepancyId }) => `/books/discrepancies/${discrepancyId}`}
        columns={[
          {
            header: home.subject,
            place: 'title',
            cell: ({ orderId, subject }) => <Id value={orderId ?? subject} short />,
          },
          { header: home.kind, place: 'line', cell: ({ kind }) => kinds[kind]?.name ?? kind },
          { header: home.customer, place: 'line', cell: ({ customerName }) => customerName },
          {
            header: home.amount,
            align: 'right',
            place: 'amount',
            cell: ({ amount }) => amount !== null && <Won value={amount} signed />,
          },
          { header: home.age, place: 'line', cell: ({ ageSeconds }) => <Age seconds={ageSeconds} /> },
        ]}
      />
    </div>
  )
}

function PendingAdjustments({ pending }: { pending: Home['pendingAdjustments'] }) {
  const { home, customers } = useWords()
  return (
    <div>
      <Title order={3} size="h5" mb={6}>
        {home.pendingAdjustments}
      </Title>
      <DataTable<Home['pendingAdjustments'][number]>
        caption={home.pendingAdjustments}
        rows={pending}
        keyOf={({ adjustmentId }) => adjustmentId}
        linkOf={({ customerId }) => `/customers/${customerId}?tab=adjustments`}
        columns={[
          {
            header: home.customer,
            place: 'title',
            cell: ({ customerId, customerName }) => customerName ?? <Id value={customerId} short />,
          },
          { header: home.request, place: 'line', cell: (request) => <RequestSubject request={request} /> },
          {
            header: home.credits,
            align: 'right',
            place: 'amount',
            cell: (request) => <Credits value={changeOf(request)} signed />,
          },
          { header: customers.adjustments.columns.reason, place: 'line', cell: ({ reason }) => reason },
          { header: home.requestedBy, place: 'line', cell: ({ requestedBy, typedBy }) => typedBy ?? requestedBy },
          { header: home.since, place: 'line', cell: ({ requestedAt }) => <Time at={requestedAt} /> },
        ]}
      />
    </div>
  )
}
