// The results of a search. A single result is opened at once and replaces this page in the history.
import { Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { Waiting } from '../../parts/waiting.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { pathOfResult, searchTextOf } from '../../shell/search-box.tsx'
import { useWords } from '../../words/words.tsx'

type Hit = Data<'search'>['results'][number]

export function SearchPage() {
  const { orders } = useWords()
  const { search } = orders
  const { number } = useFormats()
  const [, go] = useLocation()
  const [text, setText] = useQueryState<string>('q', null, '')
  const q = searchTextOf(text)
  // The link may have been written by hand.
  useEffect(() => {
    if (q !== text.trim()) setText(q)
  })
  const { data, error, isLoading } = useEndpoint('search', { query: { q } }, { enabled: q !== '' })
  const results = data?.results ?? []
  const [first] = results
  const only = results.length === 1 && first ? pathOfResult(first) : null
  useEffect(() => {
    if (only) go(only, { replace: true })
  }, [only, go])

  const columns: Column<Hit>[] = [
    {
      header: search.columns.id,
      place: 'title',
      cell: ({ kind, id, customerName }) => (kind === 'customer' && customerName ? customerName : <Id value={id} />),
    },
    { header: search.columns.kind, place: 'line', cell: ({ kind }) => search.kinds[kind] },
    {
      header: search.columns.customer,
      place: 'line',
      cell: ({ kind, id, customerName }) => (kind === 'customer' ? <Id value={id} short /> : customerName),
    },
    { header: search.columns.status, place: 'badge', cell: ({ status }) => status && <StatusBadge status={status} /> },
  ]
  return (
    <>
      <PageHeader title={q ? search.titleFor(q) : search.title} />
      {only ? (
        <Stack gap={0}>
          <Text c="dimmed" ta="center">
            {search.opening}
          </Text>
          <Waiting />
        </Stack>
      ) : (
        <DataTable
          caption={search.caption(number(results.length))}
          columns={columns}
          rows={results}
          keyOf={({ kind, id }) => `${kind} ${id}`}
          linkOf={pathOfResult}
          isLoading={isLoading}
          error={error}
          empty={<Empty q={q} />}
        />
      )}
    </>
  )
}

function Empty({ q }: { q: string }) {
  const { search } = useWords().orders
  if (!q) return search.empty
  return (
    <>
      {search.nothing}
      <br />
      {search.nothingHint}
    </>
  )
}
