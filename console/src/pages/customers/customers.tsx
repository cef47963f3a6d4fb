// All customers, newest first or sorted by a column, or those whose name starts with a text, and a dialog that creates one.
import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useMay, usePages } from '../../api/hooks.ts'
import { Credits, Won } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { useSort } from '../../parts/sort.ts'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { type NewKey, NewKeyDialog } from '../customer/new-key-dialog.tsx'
import { FiguresUpTo } from './figures-up-to.tsx'
import { NewCustomer } from './new-customer.tsx'

type CustomerRow = Data<'customers'>['customers'][number]

const typingPauseMs = 250
const longestName = 100
const sorts = {
  newest: 'descending',
  netPaid: 'descending',
  lastPurchase: 'descending',
  balance: 'descending',
} as const

export function CustomersPage() {
  const { customers } = useWords()
  const { columns: headers } = customers
  const { number } = useFormats()
  const mayManage = useMay('manage customers')
  const [, go] = useLocation()
  const [q, setQ] = useQueryState<string>('q', null, '')
  const [typed, setTyped] = useState(q)
  const ask = useDebouncedCallback((text: string) => setQ(text.trim()), typingPauseMs)
  const [shown, setShown] = useState(q)
  // After navigation the field shows the filter of the list.
  if (shown !== q) {
    setShown(q)
    if (typed.trim() !== q) setTyped(q)
  }
  const [isCreating, setIsCreating] = useState(false)
  const [newKey, setNewKey] = useState<NewKey | null>(null)
  const [sort, sortBy] = useSort(sorts, 'newest')
  const pages = usePages('customers', { query: q ? { q } : { sort } }, (data) => data.customers)
  /** Customers that are searched are sorted by name. */
  const sortOf = (by: keyof typeof sorts) => (q ? {} : { sort: sortBy(by) })
  const columns: Column<CustomerRow>[] = [
    { header: headers.name, place: 'title', cell: ({ name }) => name ?? customers.nameless },
    {
      header: headers.status,
      place: 'badge',
      cell: ({ suspendedAt }) => <StatusBadge status={suspendedAt ? 'SUSPENDED' : 'ACTIVE'} />,
    },
    {
      header: headers.netPaid,
      align: 'right',
      place: 'amount',
      ...sortOf('netPaid'),
      cell: ({ netPaid }) => <Won value={netPaid} />,
    },
    {
      header: headers.lastPurchase,
      ...sortOf('lastPurchase'),
      cell: ({ lastPurchaseAt }) => lastPurchaseAt && <Time at={lastPurchaseAt} />,
    },
    {
      header: headers.balance,
      align: 'right',
      ...sortOf('balance'),
      cell: ({ balance, held }) => (
        <div>
          <Credits value={balance} />
          {held > 0 && (
            <Text size="xs" c="dimmed">
              {customers.statement.heldAfter(number(held))}
            </Text>
          )}
        </div>
      ),
    },
    {
      header: headers.since,
      place: 'folded',
      ...sortOf('newest'),
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    { header: headers.customer, place: 'folded', cell: ({ customerId }) => <Id value={customerId} short /> },
  ]
  return (
    <>
      <PageHeader
        title={customers.title}
        actions={mayManage && <Button onClick={() => setIsCreating(true)}>{customers.create.button}</Button>}
      />
      <Stack gap="md">
        <TextInput
          type="search"
          label={customers.find}
          value={typed}
          maxLength={longestName}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            ask(event.currentTarget.value)
          }}
          w={{ base: '100%', xs: 300 }}
        />
        <FiguresUpTo at={pages.first?.figuresUpTo} />
        <DataTable
          caption={q ? customers.captionByName : customers.captions[sort]}
          columns={columns}
          rows={pages.rows}
          keyOf={({ customerId }) => customerId}
          linkOf={({ customerId }) => `/customers/${customerId}`}
          pages={pages}
          empty={q ? customers.none : customers.noneYet}
        />
        {!q && (sort === 'netPaid' || sort === 'lastPurchase') && (
          <Text size="xs" c="dimmed">
            {customers.onlyBuyers}
          </Text>
        )}
      </Stack>
      <NewCustomer
        opened={isCreating}
        onClose={() => setIsCreating(false)}
        onCreated={(created) => {
          if ('apiKey' in created) setNewKey(created)
          else go(`/customers/${created.customerId}?tab=keys`)
        }}
      />
      <NewKeyDialog
        newKey={newKey}
        onClose={() => {
          setNewKey(null)
          if (newKey) go(`/customers/${newKey.customerId}?tab=keys`)
        }}
      />
    </>
  )
}
