// Chooses a customer by the beginning of the name, or by the whole id. The id is what goes into the address.
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useEndpoint } from '../../api/hooks.ts'
import { useWords } from '../../words/words.tsx'

const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const typingPauseMs = 250

/** Empty: every customer. */
export function CustomerFilter({ value, onChange }: { value: string; onChange(customerId: string): void }) {
  const { orders } = useWords()
  const [typed, setTyped] = useState('')
  const [asked] = useDebouncedValue(typed.trim(), typingPauseMs)
  const isId = wholeId.test(asked)
  const chosen = useEndpoint('customer', { params: { customerId: value } }, { enabled: value !== '' })
  const found = useEndpoint(
    'customers',
    { query: { q: asked, limit: '20' } },
    { enabled: asked !== '' && !isId, keepLast: true },
  )
  const options = new Map([
    ...(value ? [[value, chosen.data?.name ?? value] as const] : []),
    ...(isId ? [[asked.toLowerCase(), asked.toLowerCase()] as const] : []),
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
      // The service has chosen already.
      filter={({ options: given }) => given}
      nothingFoundMessage={asked === '' ? orders.filters.typeOn : orders.filters.nobody}
      description={orders.filters.customerHint}
      inputWrapperOrder={['label', 'input', 'description']}
      w={{ base: '100%', xs: 300 }}
    />
  )
}
