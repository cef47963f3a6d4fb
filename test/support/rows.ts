// Rows as somebody could type them, table by table, and books made of them: what a test of the schema breaks one by one.
export type Row = Record<string, unknown>

export const customer = '11111111-1111-4111-8111-111111111111'
export const stranger = '22222222-2222-4222-8222-222222222222'
export const uuid = (number: number) => `00000000-0000-4000-8000-${`${number}`.padStart(12, '0')}`

export const order = (members: Row): Row => ({
  ...{
    customer_id: customer,
    order_id: 'new',
    package_type: 'BASIC',
    payment_method: 'CARD',
    amount: 1000,
    credits: 1,
  },
  ...members,
})
export const entry = (members: Row): Row => ({
  ...{ customer_id: customer, entry_number: 9, kind: 'GRANT', delta: 1, balance_after: 9, order_id: 'new' },
  entry_hash: Buffer.alloc(32, 9),
  ...members,
})
export const spend = (members: Row): Row =>
  entry({ kind: 'SPEND', delta: -1, order_id: null, reference: 'a reference', ...members })
export const operation = (members: Row): Row => ({
  ...{ customer_id: customer, operation_id: uuid(9), order_id: 'pending', kind: 'CONFIRM', payment_key: 'pay_new' },
  ...{ amount: 1000, holder_id: uuid(1), lease_until: 'now' },
  ...members,
})
export const closed = (state: string): Row => ({ state, closed_at: 'now', closed_by: uuid(1) })
export const cancel = (members: Row): Row =>
  operation({ order_id: 'confirmed', kind: 'CANCEL', credits_held: 1, reason: 'no', ...members })
export const refund = (members: Row): Row => cancel({ kind: 'REFUND', ...members })
export const giveBack = (members: Row): Row =>
  operation({ order_id: 'failed', kind: 'RETURN', reason: 'the order had failed', ...members })
export const expiry = (members: Row): Row =>
  operation({ order_id: 'new', payment_key: null, ...closed('EXPIRED'), ...members })
export const key = (members: Row): Row => ({
  ...{ key_id: 'key_2', customer_id: customer, pepper_version: 1, key_hash: Buffer.alloc(32, 2), last_four: 'abcd' },
  ...members,
})
export const confirmed = (members: Row): Row =>
  order({ status: 'CONFIRMED', grant_entry: 1, confirmed_at: 'now', ...members })

export const refunded = (members: Row): Row =>
  confirmed({ status: 'REFUNDED', grant_entry: 5, refund_entry: 6, refund_shortfall: 0, ...members })
export const notification = (members: Row): Row => ({
  ...{ transmission_id: 'new', order_id: 'anything', event_type: 'PAYMENT_STATUS_CHANGED' },
  ...members,
})
export const movement = (members: Row): Row => ({
  ...{ transaction_key: 'new', payment_key: 'pay_done', order_id: 'anything', direction: 'CAPTURE', amount: 0 },
  ...{ moved_at: 'now', ...members },
})
export const run = (members: Row): Row => ({
  ...{ reconciliation_id: uuid(9), cause: 'DAILY', from_time: '2026-01-02', to_time: '2026-01-03' },
  ...{ holder_id: uuid(1), lease_until: 'now', ...members },
})
export const discrepancy = (members: Row): Row => ({
  ...{ customer_id: customer, order_id: 'pending', subject: 'pending', kind: 'PAYMENT_DIFFERS', detail: {} },
  ...members,
})

/** The books before each case: one customer with an order in each state that matters, a spend, and two operations. */
export const books: [table: string, row: Row][] = [
  ['customers', { customer_id: customer, name: 'customer' }],
  ['accounts', { customer_id: customer, balance: 1, held: 0, last_entry: 6 }],
  ['api_keys', key({ key_id: 'key_1', key_hash: Buffer.alloc(32, 1) })],
  ['ledger_entries', entry({ entry_number: 1, balance_after: 1, order_id: 'confirmed' })],
  ['ledger_entries', entry({ entry_number: 2, balance_after: 2, order_id: 'cancelled' })],
  ['ledger_entries', entry({ entry_number: 3, balance_after: 1, order_id: 'cancelled', kind: 'ROLLBACK', delta: -1 })],
  ['ledger_entries', spend({ entry_number: 4, balance_after: 0, reference: 'spent' })],
  ['ledger_entries', entry({ entry_number: 5, balance_after: 1, order_id: 'refunded' })],
  ['ledger_entries', entry({ entry_number: 6, balance_after: 0, order_id: 'refunded', kind: 'REFUND', delta: -1 })],
  ['orders', order({ order_id: 'pending', idempotency_key: 'used' })],
  ['orders', order({ order_id: 'failed', status: 'FAILED' })],
  ['orders', confirmed({ order_id: 'confirmed' })],
  ['orders', confirmed({ order_id: 'cancelled', status: 'CANCELLED', grant_entry: 2, rollback_entry: 3 })],
  ['orders', refunded({ order_id: 'refunded' })],
  ['payment_operations', operation({ operation_id: uuid(1), payment_key: 'pay_open' })],
  [
    'payment_operations',
    operation({ operation_id: uuid(2), order_id: 'confirmed', payment_key: 'pay_done', ...closed('APPROVED') }),
  ],
  ['discrepancies', discrepancy({ discrepancy_id: uuid(1) })],
  ['webhook_notifications', notification({ transmission_id: 'first' })],
  ['gateway_movements', movement({ transaction_key: 'first' })],
  ['reconciliations', run({ reconciliation_id: uuid(1), from_time: '2026-01-01', to_time: '2026-01-02' })],
]
