// All orders, filtered by days, status, package, reason of failure and customer, with their number and sum. Filters and sort are
// in the URL.
import { Checkbox, Group, NativeSelect, Stack, Text } from '@mantine/core'
import type { Query } from '../../../../src/console/contract.ts'
import type { PackageType } from '../../../../src/payments/packages.ts'
import type { Data } from '../../api/client.ts'
import { usePages } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { SaveCsv } from '../../parts/files/save-csv.tsx'
import { useQueryChanges, useQueryState } from '../../parts/query-state.ts'
import { useSort } from '../../parts/sort.ts'
import { SpanChooser, useSpan } from '../../parts/span.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { CustomerFilter } from './customer-filter.tsx'
import { type OrderStatus, OrdersTable } from './orders-table.tsx'

const statuses = ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const satisfies OrderStatus[]
const packageTypes = ['BASIC', 'STANDARD', 'PRO'] as const satisfies PackageType[]

type Failure = NonNullable<Query<'orders'>['failure']>

/** The width of a filter. */
const filterWidth = { base: '100%', xs: 200 }

export function OrdersPage() {
  const { orders, common } = useWords()
  const chosen = useSpan({ isOptional: true })
  const [status] = useQueryState<OrderStatus | ''>('status', statuses, '')
  const [packageType, setPackageType] = useQueryState<PackageType | ''>('packageType', packageTypes, '')
  const reasonLabels = Object.entries(orders.failures).map(([value, { label }]) => [value, label])
  const failures = Object.fromEntries([...Object.entries(orders.failureGroups), ...reasonLabels])
  const [failure] = useQueryState<Failure | ''>('failure', Object.keys(failures) as Failure[], '')
  const [open, setOpen] = useQueryState<'yes' | ''>('open', ['yes'], '')
  const [customerId, setCustomerId] = useQueryState<string>('customerId', null, '')
  const [sort, sortOf] = useSort<'newest' | 'highest'>({ newest: 'descending', highest: 'descending' }, 'newest')
  const change = useQueryChanges()
  const { from, to } = chosen.span
  const filter = {
    ...(from && { from }),
    ...(to && { to }),
    ...(status && { status }),
    ...(packageType && { packageType }),
    ...(failure && { failure }),
    ...(open && { open }),
    ...(customerId && { customerId }),
  }
  const pages = usePages('orders', { query: { ...filter, sort } }, (data) => data.orders)
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <PageHeader title={orders.title} />
      <Stack gap="md">
        <Stack gap="sm" role="search" aria-label={orders.title}>
          <SpanChooser chosen={chosen} />
          <Group align="flex-start" gap="md">
            <NativeSelect
              label={orders.filters.status}
              value={status}
              // Only a failed order has a reason.
              onChange={(event) => change({ status: event.currentTarget.value, failure: '' })}
              data={[
                { value: '', label: orders.filters.everyStatus },
                ...statuses.map((value) => ({ value, label: common.statuses[value] })),
              ]}
              w={filterWidth}
            />
            <NativeSelect
              label={orders.filters.failure}
              value={failure}
              onChange={({ currentTarget: { value } }) =>
                change({ failure: value, ...(value && { status: 'FAILED' }) })
              }
              data={[
                { value: '', label: orders.filters.everyFailure },
                ...Object.entries(failures).map(([value, label]) => ({ value, label: `${label}` })),
              ]}
              w={filterWidth}
            />
            <NativeSelect
              label={orders.filters.package}
              value={packageType}
              onChange={(event) => setPackageType(event.currentTarget.value as PackageType | '')}
              data={[{ value: '', label: orders.filters.everyPackage }, ...packageTypes]}
              w={filterWidth}
            />
            <CustomerFilter value={customerId} onChange={setCustomerId} />
          </Group>
          <Checkbox
            size="md"
            label={orders.filters.open}
            checked={open === 'yes'}
            onChange={(event) => setOpen(event.currentTarget.checked ? 'yes' : '')}
          />
        </Stack>
        <Group justify="space-between" align="flex-start">
          <Matched matched={pages.first?.matched ?? null} />
          <SaveCsv name="orders" query={filter} disabled={chosen.fault !== null} />
        </Group>
        <OrdersTable
          caption={orders.caption[sort]}
          pages={pages}
          sortOf={sortOf}
          withCustomer
          empty={pages.hasMore ? orders.lookedThrough : isFiltered ? orders.none : orders.noneYet}
        />
      </Stack>
    </>
  )
}

function Matched({ matched }: { matched: Data<'orders'>['matched'] }) {
  const { matched: words } = useWords().orders
  const { number, won } = useFormats()
  if (!matched) return <div />
  const { count, amount, kept, among } = matched
  const sum = kept === amount ? words.amount(won(amount)) : words.ordered(won(amount), won(kept))
  return (
    <div role="status">
      <Text fw={600}>{`${words.orders(number(count), count === 1)} · ${sum}`}</Text>
      {among !== null && (
        <Text size="xs" c="dimmed">
          {words.newest(number(among))}
        </Text>
      )}
    </div>
  )
}
