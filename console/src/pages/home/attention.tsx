// What needs attention: payments in progress, discrepancies, adjustments to approve, undelivered events, an audit with
// violations or overdue, and the state of the gateway. Each links to the page where it is handled.
import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { Credits } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge, type Tone } from '../../format/status-badge.tsx'
import { Age, Time } from '../../format/time.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { useWords } from '../../words/words.tsx'
import { AuditResult } from '../books/audits/audit-result.tsx'
import { meaningOfCode } from '../order/timeline/gateway-code.ts'
import classes from './home.module.css'

type Home = Data<'home'>
type Operation = Home['operations']['oldest'][number]
type Discrepancy = Home['discrepancies']['oldest'][number]

export function Attention({ data }: { data: Home }) {
  const { home } = useWords()
  const { operations, discrepancies, pendingAdjustments, audit, isAuditOverdue, events, waitingNotifications } = data
  const isSound = !isAuditOverdue && (audit === null || audit.violationCount === 0)
  const decisions = discrepancies.count + pendingAdjustments.length
  const waiting = operations.count + decisions + events.undelivered + events.dead + waitingNotifications
  const isQuiet = isSound && waiting === 0
  return (
    <section aria-labelledby="attention">
      <Title order={2} size="h4" mb="sm" id="attention">
        {home.attention}
      </Title>
      <Stack gap="md">
        <Health data={data} />
        {operations.count > 0 && <Operations {...operations} />}
        {discrepancies.count > 0 && <Discrepancies {...discrepancies} />}
        {pendingAdjustments.length > 0 && <PendingAdjustments pending={pendingAdjustments} />}
        {isQuiet && (
          <Text size="sm" c="dimmed">
            {home.allWell}
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

function Health({ data }: { data: Home }) {
  const { gateway, events, operations, discrepancies, audit, isAuditOverdue, waitingNotifications } = data
  const { home } = useWords()
  const { number, age } = useFormats()
  const { state, since, heldBack } = gateway
  return (
    <div className={classes.health}>
      <Paper withBorder p="sm" className={classes.wide}>
        <Group justify="space-between" mb={4}>
          <Text size="sm" fw={600}>
            {home.gateway}
          </Text>
          <StatusBadge status={state} label={home.gatewayStates[state]} tone={gatewayTones[state]} />
        </Group>
        <Text size="xs" c="dimmed">
          {heldBack ? home.heldBack : home.gatewayHints[state]}
        </Text>
        {since && (
          <Text size="xs" c="dimmed" component="div">
            {home.since} <Time at={since} />
          </Text>
        )}
      </Paper>
      <Counter
        name={home.operations}
        count={operations.count}
        text={operations.count === 0 ? home.noOperations : home.operationsHint(number(operations.count))}
      />
      <Counter
        name={home.discrepancies}
        count={discrepancies.count}
        text={discrepancies.count === 0 ? home.noDiscrepancies : home.discrepanciesHint(number(discrepancies.count))}
      />
      <LastAudit audit={audit} isOverdue={isAuditOverdue} />
      <Counter
        name={home.events}
        count={events.undelivered + events.dead}
        text={[
          events.undelivered === 0 ? home.noBacklog : home.undelivered(number(events.undelivered)),
          ...(events.oldestSeconds === null ? [] : [home.oldestWaits(age(events.oldestSeconds))]),
          ...(events.dead === 0 ? [] : [home.dead(number(events.dead))]),
        ].join(', ')}
      />
      <Counter
        name={home.notifications}
        count={waitingNotifications}
        text={waitingNotifications === 0 ? home.noneWaiting : home.waiting(number(waitingNotifications))}
      />
    </div>
  )
}

/** Violations are shown before the age. */
function LastAudit({ audit, isOverdue }: { audit: Home['audit']; isOverdue: boolean }) {
  const { audits } = useWords()
  const { number, age } = useFormats()
  return (
    <Paper withBorder p="sm" className={classes.wide}>
      <Group justify="space-between" mb={4} gap={4}>
        <Text size="sm" fw={600}>
          {audits.home}
        </Text>
        {audit === null && !isOverdue && <StatusBadge status="none" label={audits.none} tone="over" />}
        {audit && !(isOverdue && audit.violationCount === 0) && <AuditResult {...audit} />}
        {isOverdue && <StatusBadge status="old" label={audits.old} tone="waiting" />}
      </Group>
      <Text size="xs" c="dimmed">
        {audit === null && (isOverdue ? audits.homeNever : audits.homeNone)}
        {audit?.violationCount === 0 && audits.homeClean(number(audit.rules), age(audit.ageSeconds))}
        {audit &&
          audit.violationCount > 0 &&
          (audit.isOnlyUnread
            ? audits.homeUnread(age(audit.ageSeconds))
            : audits.homeBroken(number(audit.violationCount), number(audit.rules), age(audit.ageSeconds)))}
        {audit && isOverdue && ` ${audits.homeOld}`}
      </Text>
      {audit && (
        <Text size="xs" c="dimmed" component="div">
          <Time at={audit.endedAt} />
        </Text>
      )}
      {audit && (
        <Anchor component={Link} href={`/books/audits/${audit.auditId}`} size="xs">
          {audits.see}
        </Anchor>
      )}
    </Paper>
  )
}

function Counter({ name, count, text }: { name: string; count: number; text: string }) {
  const { number } = useFormats()
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" mb={4} gap={4}>
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <StatusBadge status={name} label={number(count)} tone={count === 0 ? 'good' : 'waiting'} />
      </Group>
      <Text size="xs" c="dimmed">
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
          { header: home.order, cell: ({ orderId }) => <Id value={orderId} /> },
          { header: home.kind, cell: ({ kind }) => home.kinds[kind] ?? kind },
          { header: home.age, cell: ({ ageSeconds }) => <Age seconds={ageSeconds} /> },
          { header: home.attempts, align: 'right', cell: ({ attempts }) => attempts },
          { header: home.lastAnswer, cell: ({ gatewayCode }) => gatewayCode && meaningOfCode(words, gatewayCode) },
          { header: home.nextAttempt, cell: ({ nextAttemptAt }) => nextAttemptAt && <Time at={nextAttemptAt} /> },
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
          { header: home.subject, cell: ({ orderId, subject }) => <Id value={orderId ?? subject} /> },
          { header: home.kind, cell: ({ kind }) => kinds[kind]?.name ?? kind },
          { header: home.age, cell: ({ ageSeconds }) => <Age seconds={ageSeconds} /> },
        ]}
      />
    </div>
  )
}

function PendingAdjustments({ pending }: { pending: Home['pendingAdjustments'] }) {
  const { home } = useWords()
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
          { header: home.customer, cell: ({ customerId }) => <Id value={customerId} short /> },
          { header: home.credits, align: 'right', cell: ({ credits }) => <Credits value={credits} signed /> },
          { header: home.requestedBy, cell: ({ requestedBy }) => requestedBy },
          { header: home.since, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
        ]}
      />
    </div>
  )
}
