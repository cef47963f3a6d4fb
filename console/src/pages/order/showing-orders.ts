// What shows an order or counts it, and is asked for anew after an action on one.
import type { EndpointName } from '../../api/client.ts'

export const showingOrders: EndpointName[] = [
  ...(['order', 'orders', 'customer', 'customers', 'statement', 'home', 'discrepancies', 'trail'] as const),
]
