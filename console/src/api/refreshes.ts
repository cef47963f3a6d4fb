// The endpoints to fetch again after an action: everything that shows or counts what it changed.
import type { EndpointName } from './client.ts'

export const affectedByOrderAction: EndpointName[] = [
  'discrepancies',
  'discrepancy',
  'order',
  'orders',
  'customer',
  'customers',
  'lots',
  'statement',
  'home',
  'actionLog',
]

export const affectedByResolution: EndpointName[] = [
  'discrepancies',
  'discrepancy',
  'days',
  'home',
  'order',
  'actionLog',
]

/** It may be stored as a request. */
export const affectedByAcceptance: EndpointName[] = [...affectedByOrderAction, 'days', 'adjustments']

export const affectedByAdjustment: EndpointName[] = [
  'adjustments',
  'customer',
  'customers',
  'statement',
  'home',
  'actionLog',
]

export const affectedByRun: EndpointName[] = ['days', 'runs', 'discrepancies', 'home']
