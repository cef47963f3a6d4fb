// What shows an order or counts it, and is asked for anew after an action on one.
import type { EndpointName } from '../../api/client.ts'

export const showingOrders: EndpointName[] = [
  'discrepancies',
  'discrepancy',
  'order',
  'orders',
  'customer',
  'customers',
  'statement',
  'home',
  'trail',
]
