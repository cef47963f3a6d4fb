// One audit: the rows checked, and each violated rule with the first rows that violate it.
import { Alert, Anchor, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { Link, useParams } from 'wouter'
import type { Data } from '../../../api/client.ts'
import { useEndpoint } from '../../../api/hooks.ts'
import { useFormats } from '../../../format/formats.ts'
import { Id } from '../../../format/id.tsx'
import { Time } from '../../../format/time.tsx'
import { type Column, DataTable } from '../../../parts/data-table.tsx'
import { Figure } from '../../../parts/figure.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { Waiting } from '../../../parts/waiting.tsx'
import { PageHeader } from '../../../shell/page-header.tsx'
import { useWords } from '../../../words/words.tsx'
import { AuditResult } from './audit-result.tsx'
import { describeWhere } from './audit-where.ts'

type Audit = Data<'audit'>
type Finding = Audit['findings'][number]
type Subject = Finding['subjects'][number]

export function AuditPage() {
  const { audits } = useWords()
  const { auditId = '' } = useParams()
  const { data: audit, error, isLoading, refetch } = useEndpoint('audit', { params: { auditId } })
  return (
    <>
      <PageHeader
        title={audits.one}
        detail={<Id value={auditId} />}
        actions={
          <Anchor component={Link} href="/books?tab=audits" size="sm">
            {audits.back}
          </Anchor>
        }
      />
      <Stack gap="lg">
        {isLoading && <Waiting />}
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {audit && <Result audit={audit} />}
      </Stack>
    </>
  )
}

function Result({ audit }: { audit: Audit }) {
  const { audits } = useWords()
  const { number } = useFormats()
  const { begunAt, endedAt, cause, rules, checked, findings, isOnlyUnread } = audit
  const kinds = Object.entries(checked) as [keyof typeof checked, number][]
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Figure label={audits.result} value={<AuditResult {...audit} />} hint={audits.causes[cause]} />
        <Figure label={audits.begun} value={<SmallTime at={begunAt} />} />
        <Figure label={audits.endedAt} value={<SmallTime at={endedAt} />} />
        <Figure label={audits.rules} value={number(rules)} />
      </SimpleGrid>
      <Meaning found={findings.length} isOnlyUnread={isOnlyUnread} />
      {findings.length > 0 && (
        <Stack component="section" gap="md">
          <Title order={2} size="h4">
            {audits.findings}
          </Title>
          {findings.map((finding) => (
            <Violation key={`${finding.invariant} ${finding.rule}`} finding={finding} />
          ))}
        </Stack>
      )}
      <Stack component="section" gap="xs">
        <Title order={2} size="h4">
          {audits.checked}
        </Title>
        <DataTable
          caption={audits.checked}
          rows={kinds}
          keyOf={([kind]) => kind}
          columns={[
            { header: audits.kind, cell: ([kind]) => audits.kinds[kind] },
            { header: audits.rows, align: 'right', cell: ([, rows]) => number(rows) },
          ]}
        />
      </Stack>
    </>
  )
}

function Meaning({ found, isOnlyUnread }: { found: number; isOnlyUnread: boolean }) {
  const { audits } = useWords()
  if (found === 0) return <Alert color="green">{audits.isClean}</Alert>
  return isOnlyUnread ? <Alert color="orange">{audits.isUnread}</Alert> : <Alert color="red">{audits.isBroken}</Alert>
}

/** In small type: a time is longer than a number. */
function SmallTime({ at }: { at: string }) {
  return (
    <Text span fz="sm" fw={400}>
      <Time at={at} />
    </Text>
  )
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

function Violation({ finding: { invariant, rule, count, subjects } }: { finding: Finding }) {
  const words = useWords()
  const { audits } = words
  const { number } = useFormats()
  const text = audits.ruleWords[rule] ?? rule
  const columns: Column<Subject>[] = [
    { header: audits.about, cell: (subject) => <About subject={subject} /> },
    { header: audits.where, cell: (subject) => describeWhere(subject, words) },
  ]
  return (
    <Stack gap={4}>
      <Title order={3} size="h5">
        {text}
      </Title>
      <Text size="sm" c="dimmed">
        {invariant}. {audits.subjects(number(subjects.length), number(count))}
      </Text>
      <DataTable
        caption={text}
        columns={columns}
        rows={subjects}
        keyOf={(subject) => JSON.stringify(subject)}
        linkOf={linkOf}
      />
    </Stack>
  )
}

function linkOf({ orderId, customerId }: Subject): string | null {
  if (textOf(orderId)) return `/orders/${encodeURIComponent(`${orderId}`)}`
  return textOf(customerId) ? `/customers/${encodeURIComponent(`${customerId}`)}` : null
}

function About({ subject: { orderId, customerId } }: { subject: Subject }) {
  const { audits } = useWords()
  const id = textOf(orderId) ?? textOf(customerId)
  return id === null ? audits.schema : <Id value={id} />
}
