// The pages by path, below /console. Each is loaded when it is first opened.
import { type ComponentType, lazy } from 'react'

type Page = ComponentType<{ params: Record<string, string | undefined> }>

/** A page is exported by name. */
function page<Name extends string>(name: Name, load: () => Promise<{ [Key in Name]: Page }>): Page {
  return lazy(async () => ({ default: (await load())[name] as Page }))
}

export const routes: [path: string, page: Page][] = [
  ['/', page('HomePage', () => import('./pages/home/home.tsx'))],
  ['/search', page('SearchPage', () => import('./pages/search/search.tsx'))],
  ['/orders', page('OrdersPage', () => import('./pages/orders/orders.tsx'))],
  ['/orders/:orderId', page('OrderPage', () => import('./pages/order/order.tsx'))],
  ['/customers', page('CustomersPage', () => import('./pages/customers/customers.tsx'))],
  ['/customers/:customerId', page('CustomerPage', () => import('./pages/customer/customer.tsx'))],
  ['/books', page('BooksPage', () => import('./pages/books/books.tsx'))],
  ['/books/audits/:auditId', page('AuditPage', () => import('./pages/books/audits/audit.tsx'))],
  ['/books/runs/:reconciliationId', page('RunPage', () => import('./pages/books/runs/run.tsx'))],
  ['/books/discrepancies/:discrepancyId', page('DiscrepancyPage', () => import('./pages/discrepancy/discrepancy.tsx'))],
  ['/events', page('EventsPage', () => import('./pages/events/events.tsx'))],
  ['/events/:endpointId', page('EndpointPage', () => import('./pages/events/endpoint.tsx'))],
  ['/services', page('TokensPage', () => import('./pages/tokens/tokens.tsx'))],
  ['/trail', page('ActionLogPage', () => import('./pages/action-log/action-log.tsx'))],
  ['/operators', page('OperatorsPage', () => import('./pages/operators/operators.tsx'))],
  ['/password', page('PasswordPage', () => import('./pages/sign-in/password.tsx'))],
]
