// One reconciliation run: the totals of the gateway and of our books, and the result for every order that did not match. The page
// polls while the run is in progress.
import { Alert, Anchor, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { Won } from '../../../format/amounts.tsx'
import { useFormats } from '../../../format/formats.ts'
import { Id } from '../../../format/id.tsx'
import { Time } from '../../../format/time.tsx'
import { type Column, DataTable } from '../../../parts/data-table.tsx'
import { Figure } from '../../../parts/figure.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { Waiting } from '../../../parts/waiting.tsx'
import { PageHeader } from '../../../shell/page-header.tsx'
import { useWords } from '../../../words/words.tsx'
import { OpenOfRun } from '../discrepancies.tsx'
import { Bridge } from './bridge.tsx'
import { CompareAgain } from './compare-again.tsx'
import {
  differenceOf,
  hasDiscrepancies,
  hasEqualTotals,
  hasMatchedAll,
  type Result,
  type Run,
  reviewedOf,
} from './run-figures.ts'
import { daysOf, RunBy, RunSpan, RunState, useRun } from './run-parts.tsx'

export function RunPage() {
  const { books } = useWords()
  const { day } = useFormats()
  const { reconciliationId = '' } = useParams()
  const { data: run, error, isLoading, refetch } = useRun(reconciliationId)
  return (
    <>
      <PageHeader
        title={books.run.title}
        tab={run && `${daysOf(run, day)} · ${books.run.title}`}
        detail={<Id value={reconciliationId} />}
        actions={
          <>
            {run && run.state !== 'under way' && <CompareAgain run={run} />}
            <Anchor component={Link} href="/books?tab=runs" size="sm">
              {books.run.back}
            </Anchor>
          </>
        }
      />
      <Stack gap="lg">
        {isLoading && <Waiting />}
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {run && <Findings run={run} />}
      </Stack>
    </>
  )
}

function Findings({ run }: { run: Run }) {
  const { books } = useWords()
  const { reconciliationId, startedAt, finishedAt, state, result } = run
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Figure label={books.run.span} value={<RunSpan run={run} />} />
        <Figure
          label={books.runs.state}
          value={<RunState run={run} />}
          hint={
            <>
              {`${books.runs.cause}: `}
              <RunBy run={run} />
            </>
          }
        />
        <Figure label={books.run.started} value={<SmallTime at={startedAt} />} />
        <Figure label={books.run.finished} value={finishedAt ? <SmallTime at={finishedAt} /> : '–'} />
      </SimpleGrid>
      {state === 'under way' && <Alert role="status">{books.run.stillRunning}</Alert>}
      {state === 'interrupted' && <Alert color="orange">{books.run.interrupted}</Alert>}
      {result && <Sums result={result} isExplained={run.outcome === 'explained'} />}
      {result && <Bridge bridge={run.bridge} result={result} />}
      {result && <Reviewed result={result} />}
      {result && hasDiscrepancies(result) && <OpenOfRun reconciliationId={reconciliationId} />}
    </>
  )
}

/** In small type: a time is longer than a number. */
function SmallTime({ at }: { at: string }) {
  return (
    <Text span fz="sm" fw={400}>
      <Time at={at} />
    </Text>
  )
}

function Sums({ result, isExplained }: { result: Result; isExplained: boolean }) {
  const { books } = useWords()
  const { won } = useFormats()
  const { captured, cancelled, bookedCaptured, bookedCancelled, movements } = result
  const { missingCaptured = 0, missingCancelled = 0, outsideCaptured = 0, outsideCancelled = 0 } = result
  const { notListed = 0, listedDifferently = 0 } = result
  const difference = differenceOf(result)
  const isEqual = hasEqualTotals(result)
  const isOutside = outsideCaptured + outsideCancelled > 0
  const rows = [
    { side: books.run.gateway, captured, cancelled },
    { side: books.run.books, captured: bookedCaptured, cancelled: bookedCancelled },
    { side: books.run.missing, captured: missingCaptured, cancelled: missingCancelled },
    {
      side: books.run.difference,
      captured: captured - bookedCaptured - missingCaptured,
      cancelled: cancelled - bookedCancelled - missingCancelled,
    },
    ...(isOutside ? [{ side: books.run.outside, captured: outsideCaptured, cancelled: outsideCancelled }] : []),
  ]
  type Side = (typeof rows)[number]
  const columns: Column<Side>[] = [
    { header: books.run.side, cell: ({ side }) => <Text fw={600}>{side}</Text> },
    { header: books.run.captured, align: 'right', cell: (row) => <Won value={row.captured} /> },
    { header: books.run.cancelled, align: 'right', cell: (row) => <Won value={row.cancelled} /> },
    { header: books.run.net, align: 'right', cell: (row) => <Won value={row.captured - row.cancelled} /> },
  ]
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {books.run.sums}
      </Title>
      <Alert color={isEqual || isExplained ? 'green' : 'red'}>
        {difference !== 0
          ? books.run[isExplained ? 'explained' : 'differs'](won(difference))
          : isEqual
            ? books.run.difference0
            : books.run.differsInside}
      </Alert>
      <DataTable caption={books.run.sums} columns={columns} rows={rows} keyOf={({ side }) => side} />
      {isOutside && (
        <Text size="sm" c="dimmed">
          {books.run.outsideHint}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Figure label={books.run.movements} value={movements} />
        <Foreign result={result} />
        {notListed > 0 && <Figure label={books.run.notListed} value={notListed} hint={books.run.disbelievedHint} />}
        {listedDifferently > 0 && (
          <Figure label={books.run.listedDifferently} value={listedDifferently} hint={books.run.disbelievedHint} />
        )}
      </SimpleGrid>
    </Stack>
  )
}

/** Runs of earlier versions counted movements of other services and of unknown orders together. */
function Foreign({ result: { foreign, otherServices, unknownOrders = 0 } }: { result: Result }) {
  const { run } = useWords().books
  if (otherServices === undefined) return <Figure label={run.foreign} value={foreign} hint={run.foreignHint} />
  return (
    <>
      <Figure label={run.otherServices} value={otherServices} hint={run.otherServicesHint} />
      {unknownOrders > 0 && <Figure label={run.unknownOrders} value={unknownOrders} hint={run.unknownOrdersHint} />}
    </>
  )
}

function Reviewed({ result }: { result: Result }) {
  const { books } = useWords()
  const outcomes = Object.entries(result.reviewed) as [keyof Result['reviewed'], number][]
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {books.run.reviewedTitle}
      </Title>
      {reviewedOf(result) === 0 ? (
        <Text>{hasMatchedAll(result) ? books.run.allAgrees : books.run.noneReviewed}</Text>
      ) : (
        <>
          <Text c="dimmed">{books.run.reviewedHint}</Text>
          <Table tabularNums>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{books.run.outcome}</Table.Th>
                <Table.Th ta="right">{books.run.orders}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {outcomes
                .filter(([, count]) => count > 0)
                .map(([outcome, count]) => (
                  <Table.Tr key={outcome}>
                    <Table.Td>{books.run.outcomes[outcome]}</Table.Td>
                    <Table.Td ta="right">{count}</Table.Td>
                  </Table.Tr>
                ))}
            </Table.Tbody>
          </Table>
        </>
      )}
    </Stack>
  )
}
