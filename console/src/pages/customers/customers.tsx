// All customers, newest first, or those whose name starts with a text, and a dialog that creates one.
import { Button, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useMay, usePages } from '../../api/hooks.ts'
import { Credits } from '../../format/amounts.tsx'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { type NewKey, NewKeyDialog } from '../customer/new-key-dialog.tsx'
import { NewCustomer } from './new-customer.tsx'

type CustomerRow = Data<'customers'>['customers'][number]

const typingPauseMs = 250
const longestName = 100

export function CustomersPage() {
  const { customers } = useWords()
  const { columns: headers } = customers
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
  const pages = usePages('customers', { query: q ? { q } : {} }, (data) => data.customers)
  const columns: Column<CustomerRow>[] = [
    { header: headers.name, cell: ({ name }) => name ?? customers.nameless },
    {
      header: headers.status,
      cell: ({ suspendedAt }) => <StatusBadge status={suspendedAt ? 'SUSPENDED' : 'ACTIVE'} />,
    },
    { header: headers.customer, cell: ({ customerId }) => <Id value={customerId} short /> },
    { header: headers.balance, align: 'right', cell: ({ balance }) => <Credits value={balance} /> },
    { header: headers.held, align: 'right', cell: ({ held }) => <Credits value={held} /> },
    { header: headers.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
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
        <DataTable
          caption={q ? customers.captionByName : customers.caption}
          columns={columns}
          rows={pages.rows}
          keyOf={({ customerId }) => customerId}
          linkOf={({ customerId }) => `/customers/${customerId}`}
          pages={pages}
          empty={q ? customers.none : customers.noneYet}
        />
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
