// Where the rows of a table are, on a cluster. What is not named here is on the coordinator alone.

/** By customer_id, in one colocation group. The first one decides where the others are. */
export const distributedTables: string[] = [
  'accounts',
  'ledger_entries',
  'use_labels',
  'use_details',
  'adjustments',
  'adjustment_requests',
  'orders',
  'payment_operations',
  'cancel_keys',
  'holds',
  'events',
  'event_queues',
  'dead_events',
  'event_attempts',
  'payment_attempts',
  'budget_usage',
  'figures_reached',
  'hourly_figures',
  'customer_figures',
]

/** Each group adds up its own from the others, up to marks that mean nothing elsewhere: they are derived anew instead of copied. */
export const derivedTables: string[] = ['figures_reached', 'hourly_figures', 'customer_figures']

/** Whole on every server. */
export const referenceTables: string[] = [
  'customers',
  'api_keys',
  'event_endpoints',
  'service_tokens',
  'budgets',
  'refund_rules',
]

/** What a group of customers has views of. */
export const tablesInGroups: string[] = [...distributedTables, ...referenceTables]

/** The end of a shard's name, and of the names of its constraints, indexes and triggers. */
export const shardSuffix = /_[0-9]{6,}(?![0-9A-Za-z_])/g
