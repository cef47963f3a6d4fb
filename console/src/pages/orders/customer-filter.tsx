// Selects a customer by the start of the name or by the complete id. The id is stored in the URL.
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useEndpoint } from '../../api/hooks.ts'
import { useWords } from '../../words/words.tsx'

const completeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const typingPauseMs = 250

/** Empty: all customers. */
export function CustomerFilter({ value, onChange }: { value: string; onChange(customerId: string): void }) {
  const { orders } = useWords()
  const [typed, setTyped] = useState('')
  const [searched] = useDebouncedValue(typed.trim(), typingPauseMs)
  const isId = completeId.test(searched)
  const chosen = useEndpoint('customer', { params: { customerId: value } }, { enabled: value !== '' })
  const found = useEndpoint(
    'customers',
    { query: { q: searched, limit: '20' } },
    { enabled: searched !== '' && !isId, keepLast: true },
  )
  const options = new Map([
    ...(value ? [[value, chosen.data?.name ?? value] as const] : []),
    ...(isId ? [[searched.toLowerCase(), searched.toLowerCase()] as const] : []),
    ...(found.data?.customers ?? []).map(({ customerId, name }) => [customerId, name ?? customerId] as const),
  ])
  return (
    <Select
      label={orders.filters.customer}
      placeholder={value ? '' : orders.filters.everyCustomer}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': orders.filters.everyCustomer }}
      value={value || null}
      onChange={(next) => onChange(next ?? '')}
      searchValue={typed}
      onSearchChange={setTyped}
      data={[...options].map(([id, label]) => ({ value: id, label }))}
      // Filtered by the service.
      filter={({ options: given }) => given}
      nothingFoundMessage={searched === '' ? orders.filters.typeOn : orders.filters.noMatch}
      description={orders.filters.customerHint}
      inputWrapperOrder={['label', 'input', 'description']}
      w={{ base: '100%', xs: 300 }}
    />
  )
}
