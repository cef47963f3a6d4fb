// The pages of the console as requests of its API. Ids are taken from the books: another order, customer or cursor for
// each request.
import type pg from 'pg'
import { addDays, koreanDayOf } from '../../src/core/korean-days.ts'
import { orderStatuses } from '../../src/payments/kinds.ts'
import { busiestCustomer } from '../growth/statement.ts'

export type Page = { name: string; path(number: number): string }

type Sample = { orderId: string; customerId: string; name: string; paymentKey: string | null; lastFour: string | null }

// A sample of the table's pages: counting rows would read all of them.
const sampleText = `
  select o.order_id as "orderId", o.customer_id as "customerId", c.name, k.last_four as "lastFour",
    (select p.payment_key from payment_operations p
     where p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' limit 1) as "paymentKey"
  from (select * from orders tablesample system (0.5) limit 2000) o
  join customers c using (customer_id)
  left join lateral (select last_four from api_keys k where k.customer_id = o.customer_id limit 1) k on true
  order by md5(o.order_id)
  limit 200`

const holderText = `select customer_id as "customerId" from holds where state = 'ACTIVE' limit 1`
const placesText = `
  select (select discrepancy_id from discrepancies where resolved_at is not null order by resolved_at offset 50000 limit 1)
           as "discrepancyId",
         (select reconciliation_id from reconciliations order by started_at offset 300 limit 1) as "reconciliationId",
         (select audit_id from audits order by ended_at offset 300 limit 1) as "auditId"`

export async function pagesOf(client: pg.Client): Promise<Page[]> {
  const samples = (await client.query<Sample>(sampleText)).rows
  if (samples.length === 0) throw new Error('there are too few orders to choose from')
  const of = <Name extends keyof Sample>(name: Name) => {
    const values = samples.flatMap((sample) => sample[name] ?? [])
    return (number: number) => encodeURIComponent(values[number % values.length] ?? '')
  }
  const [orderId, customerId, name] = [of('orderId'), of('customerId'), of('name')] as const
  const [paymentKey, lastFour] = [of('paymentKey'), of('lastFour')] as const
  const busiest = await busiestCustomer(client)
  const holder = (await client.query<{ customerId: string }>(holderText)).rows[0]?.customerId ?? busiest
  const places = (await client.query<Record<'discrepancyId' | 'reconciliationId' | 'auditId', string>>(placesText))
    .rows[0]
  const today = koreanDayOf(new Date())
  const page = (title: string, path: Page['path']): Page => ({ name: title, path })
  return [
    page('home, 30 days', () => '/home'),
    page('home, 365 days', () => '/home?days=365'),
    page('orders, first page', () => '/orders'),
    page('orders, somewhere deep', (number) => `/orders?cursor=${orderId(number)}`),
    ...orderStatuses.map((status) => page(`orders, ${status}`, () => `/orders?status=${status}`)),
    ...orderStatuses.map((status) =>
      page(`orders, ${status}, deep`, (number) => `/orders?status=${status}&cursor=${orderId(number)}`),
    ),
    page('orders of a day by amount', () => `/orders?from=${today}&to=${today}&sort=highest`),
    page('declined orders of a week', () => `/orders?from=${addDays(today, -7)}&failure=card-declined`),
    page('orders of a customer', (number) => `/orders?customerId=${customerId(number)}`),
    page('refunded orders of the busiest', () => `/orders?customerId=${busiest}&status=REFUNDED`),
    page('order', (number) => `/orders/${orderId(number)}`),
    page('customers', () => '/customers'),
    page('customers by name', () => '/customers?q=company%201'),
    page('customer', (number) => `/customers/${customerId(number)}`),
    page('the busiest customer', () => `/customers/${busiest}`),
    page('statement', (number) => `/customers/${customerId(number)}/statement`),
    page('statement of the busiest', () => `/customers/${busiest}/statement`),
    page('refunds in its statement', () => `/customers/${busiest}/statement?kind=REFUND`),
    page('lots', (number) => `/customers/${customerId(number)}/lots`),
    page('lots of the busiest', () => `/customers/${busiest}/lots`),
    page('adjustments of the busiest', () => `/customers/${busiest}/adjustments`),
    page('budgets', (number) => `/customers/${customerId(number)}/budgets`),
    page('holds', () => `/customers/${holder}/holds`),
    page('days, a month', () => '/books/days'),
    page('days, a year', () => `/books/days?from=${addDays(today, -364)}&to=${today}`),
    page('runs', () => '/books/runs'),
    page('runs, deep', () => `/books/runs?cursor=${places?.reconciliationId}`),
    page('discrepancies, open', () => '/books/discrepancies'),
    page('discrepancies, resolved, deep', () => `/books/discrepancies?state=resolved&cursor=${places?.discrepancyId}`),
    page('discrepancy', () => `/books/discrepancies/${places?.discrepancyId}`),
    page('audits, deep', () => `/books/audits?cursor=${places?.auditId}`),
    page('audit', () => `/books/audits/${places?.auditId}`),
    page('trail', () => '/trail'),
    page('trail of an order', (number) => `/trail?subject=ord_${number % 1_000}`),
    page('search: order id', (number) => `/search?q=${orderId(number)}`),
    page('search: beginning of one', (number) => `/search?q=${orderId(number).slice(0, 14)}`),
    page('search: payment key', (number) => `/search?q=${paymentKey(number)}`),
    page('search: customer id', (number) => `/search?q=${customerId(number)}`),
    page('search: name', (number) => `/search?q=${name(number).slice(0, 14)}`),
    page('search: end of a key', (number) => `/search?q=${lastFour(number)}`),
  ]
}
