// Handwritten rows, table by table, and books made of them. The tests of the schema break them one by one.
export type Row = Record<string, unknown>

export const customer = '11111111-1111-4111-8111-111111111111'
export const stranger = '22222222-2222-4222-8222-222222222222'
export const uuid = (number: number) => `00000000-0000-4000-8000-${`${number}`.padStart(12, '0')}`

export const order = (members: Row): Row => ({
  customer_id: customer,
  order_id: 'new',
  package_type: 'BASIC',
  payment_method: 'CARD',
  amount: 1000,
  credits: 1,
  ...members,
})
export const entry = (members: Row): Row => ({
  customer_id: customer,
  entry_number: 9,
  kind: 'GRANT',
  delta: 1,
  balance_after: 9,
  order_id: 'new',
  entry_hash: Buffer.alloc(32, 9),
  ...members,
})
export const spend = (members: Row): Row =>
  entry({ kind: 'SPEND', delta: -1, order_id: null, reference: 'a reference', ...members })
/** Entries with the held credits. */
export const orderHold = (members: Row): Row =>
  entry({ kind: 'HOLD', delta: 0, held_delta: 1, held_after: 1, hold_id: uuid(9), ...members })
export const serviceHold = (members: Row): Row =>
  orderHold({ order_id: null, reference: 'a reference', service_id: 'svc_1', ...members })
export const capture = (members: Row): Row =>
  orderHold({
    kind: 'CAPTURE',
    order_id: null,
    delta: -1,
    held_delta: -1,
    held_after: 0,
    service_id: 'svc_1',
    ...members,
  })
export const release = (members: Row): Row =>
  orderHold({ kind: 'RELEASE', order_id: null, held_delta: -1, held_after: 0, ...members })
export const hold = (members: Row): Row => ({
  customer_id: customer,
  hold_id: uuid(9),
  credits: 2,
  service_id: 'svc_1',
  expires_at: 'now',
  opening_entry: 7,
  ...members,
})
export const operation = (members: Row): Row => ({
  customer_id: customer,
  operation_id: uuid(9),
  order_id: 'pending',
  kind: 'CONFIRM',
  payment_key: 'pay_new',
  amount: 1000,
  holder_id: uuid(1),
  lease_until: 'now',
  ...members,
})
export const closed = (state: string): Row => ({ state, closed_at: 'now', closed_by: uuid(1) })
export const cancel = (members: Row): Row =>
  operation({ order_id: 'confirmed', kind: 'CANCEL', credits_held: 1, reason: 'no', ...members })
export const refund = (members: Row): Row => cancel({ kind: 'REFUND', ...members })
export const returnPayment = (members: Row): Row =>
  operation({ order_id: 'failed', kind: 'RETURN', reason: 'the order had failed', ...members })
export const expiry = (members: Row): Row =>
  operation({ order_id: 'new', payment_key: null, ...closed('EXPIRED'), ...members })
export const key = (members: Row): Row => ({
  key_id: 'key_2',
  customer_id: customer,
  pepper_version: 1,
  key_hash: Buffer.alloc(32, 2),
  last_four: 'abcd',
  ...members,
})
export const token = (members: Row): Row => ({
  service_id: 'svc_2',
  name: 'a service',
  pepper_version: 1,
  token_hash: Buffer.alloc(32, 2),
  last_four: 'abcd',
  ...members,
})
export const event = (members: Row): Row => ({
  customer_id: customer,
  event_number: 9,
  type: 'order.confirmed',
  data: {},
  created_at: 'now',
  ...members,
})
export const endpoint = (members: Row): Row => ({
  endpoint_id: 'ep_2',
  url: 'http://127.0.0.1:1',
  types: [],
  secrets: '[{}]',
  ...members,
})
export const queue = (members: Row): Row => ({
  customer_id: customer,
  endpoint_id: 'ep_new',
  next_event: 1,
  last_event: 1,
  ...members,
})
export const deadEvent = (members: Row): Row => ({
  customer_id: customer,
  endpoint_id: 'ep_1',
  event_number: 2,
  attempts: 1,
  last_error: 'none',
  ...members,
})
export const eventAttempt = (members: Row): Row => ({
  customer_id: customer,
  endpoint_id: 'ep_1',
  event_number: 2,
  attempted_at: '2026-01-01T00:00:00Z',
  took_ms: 1,
  ...members,
})
export const confirmed = (members: Row): Row =>
  order({ status: 'CONFIRMED', grant_entry: 1, confirmed_at: 'now', ...members })

export const refunded = (members: Row): Row =>
  confirmed({ status: 'REFUNDED', grant_entry: 5, refund_entry: 6, refund_shortfall: 0, ...members })
export const notification = (members: Row): Row => ({
  transmission_id: 'new',
  order_id: 'anything',
  event_type: 'PAYMENT_STATUS_CHANGED',
  ...members,
})
export const movement = (members: Row): Row => ({
  transaction_key: 'new',
  payment_key: 'pay_done',
  order_id: 'anything',
  direction: 'CAPTURE',
  amount: 0,
  moved_at: 'now',
  ...members,
})
export const run = (members: Row): Row => ({
  reconciliation_id: uuid(9),
  cause: 'DAILY',
  from_time: '2026-01-02',
  to_time: '2026-01-03',
  holder_id: uuid(1),
  lease_until: 'now',
  ...members,
})
export const action = (members: Row): Row => ({
  action_id: uuid(9),
  step: 'BEGUN',
  actor: 'operator',
  command: 'keys issue',
  arguments: [],
  ...members,
})
export const actionEnd = (members: Row): Row => ({
  action_id: uuid(9),
  step: 'ENDED',
  outcome: 'ok',
  about: {},
  ...members,
})
export const operator = (members: Row): Row => ({
  operator_id: 'opr_new',
  name: 'new',
  role: 'viewer',
  password_hash: '$scrypt$',
  ...members,
})
export const session = (members: Row): Row => ({
  session_hash: Buffer.alloc(32, 9),
  operator_id: 'opr_1',
  access_version: 1,
  ...members,
})
export const wrongPasswords = (members: Row): Row => ({ subject: Buffer.alloc(32, 9), failures: 1, ...members })
export const gatewayAttempt = (members: Row): Row => ({
  customer_id: customer,
  operation_id: uuid(1),
  holder_id: uuid(9),
  gateway_code: 'TIMEOUT',
  ...members,
})
export const cancelKey = (members: Row): Row => ({
  customer_id: customer,
  operation_id: uuid(1),
  key_id: 'key_1',
  opened_at: 'now',
  ...members,
})
export const adjustment = (members: Row): Row => ({
  customer_id: customer,
  adjustment_id: uuid(9),
  kind: 'GOODWILL',
  credits: 1,
  entry_number: 8,
  actor: 'kim',
  reason: 'slow answers',
  created_at: 'now',
  ...members,
})
export const reversal = (members: Row): Row =>
  adjustment({ kind: 'REVERSAL', actor: null, service_id: 'svc_1', reversed_entry: 4, ...members })
export const request = (members: Row): Row => ({
  customer_id: customer,
  adjustment_id: uuid(9),
  kind: 'GOODWILL',
  credits: 1,
  reason: 'slow answers',
  requested_by: 'kim',
  ...members,
})
export const figure = (members: Row): Row => ({
  hour: '2026-01-02T03:00:00Z',
  figure: 'orders made',
  count: 1,
  total: 1,
  ...members,
})
export const auditRow = (members: Row): Row => ({
  audit_id: uuid(9),
  cause: 'DAILY',
  begun_at: 'now',
  rules: 1,
  checked: {},
  violation_count: 0,
  findings: '[]',
  ...members,
})
export const dailyAudit = (members: Row): Row => ({
  day: '2026-01-02',
  holder_id: uuid(1),
  lease_until: 'now',
  ...members,
})
export const discrepancy = (members: Row): Row => ({
  customer_id: customer,
  order_id: 'pending',
  subject: 'pending',
  kind: 'PAYMENT_DIFFERS',
  detail: {},
  ...members,
})

export const journalEntry = (members: Row): Row => ({
  record_number: 99,
  table_name: 'operators',
  row_key: 'opr_1',
  content_hash: Buffer.alloc(32),
  written_at: 'now',
  journal_hash: Buffer.alloc(32),
  ...members,
})

/** The books before each case: one customer with an order in each state that matters, a spend, a hold, and two operations. */
export const budget = (members: Row): Row => ({
  customer_id: customer,
  budget_id: uuid(9),
  scope: 'CUSTOMER',
  period: 'MONTH',
  credits: 10,
  warn_at: 8,
  ...members,
})

export const usage = (members: Row): Row => ({
  customer_id: customer,
  budget_id: uuid(1),
  value: 'b',
  period_start: '2026-01-01T00:00:00+09:00',
  used: 1,
  ...members,
})

export const labelOfUse = (members: Row): Row => ({ customer_id: customer, label: 'new', place: 2, ...members })

export const detailsOfUse = (members: Row): Row => ({
  customer_id: customer,
  entry_number: 4,
  key_id: 'key-1',
  ...members,
})

export const refundRule = (members: Row): Row => ({
  holds_from: '2026-12-01',
  full_price_days: 7,
  smallest_amount: 1_000,
  share_percent: 80,
  ...members,
})

export const books: [table: string, row: Row][] = [
  ['customers', { customer_id: customer, name: 'customer' }],
  ['accounts', { customer_id: customer, balance: 1, held: 0, last_entry: 8 }],
  ['api_keys', key({ key_id: 'key_1', key_hash: Buffer.alloc(32, 1) })],
  ['ledger_entries', entry({ entry_number: 1, balance_after: 1, order_id: 'confirmed' })],
  ['ledger_entries', entry({ entry_number: 2, balance_after: 2, order_id: 'cancelled' })],
  ['ledger_entries', entry({ entry_number: 3, balance_after: 1, order_id: 'cancelled', kind: 'ROLLBACK', delta: -1 })],
  ['ledger_entries', spend({ entry_number: 4, balance_after: 0, reference: 'spent' })],
  ['ledger_entries', entry({ entry_number: 5, balance_after: 1, order_id: 'refunded' })],
  ['ledger_entries', entry({ entry_number: 6, balance_after: 0, order_id: 'refunded', kind: 'REFUND', delta: -1 })],
  ['ledger_entries', serviceHold({ entry_number: 7, reference: 'held', hold_id: uuid(1) })],
  ['ledger_entries', release({ entry_number: 8, hold_id: uuid(1) })],
  ['use_labels', labelOfUse({ label: 'known', place: 1 })],
  ['use_details', detailsOfUse({ entry_number: 7, label: 'known' })],
  ['holds', hold({ hold_id: uuid(1), state: 'RELEASED', closing_entry: 8 })],
  ['budgets', budget({ budget_id: uuid(1), period: 'DAY' })],
  ['refund_rules', refundRule({ holds_from: '-infinity' })],
  ['refund_rules', refundRule({ holds_from: '9000-01-01' })],
  ['budget_usage', usage({ value: 'a' })],
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
  ['service_tokens', token({ service_id: 'svc_1', token_hash: Buffer.alloc(32, 1) })],
  ['events', event({ event_number: 1 })],
  ['events', event({ event_number: 2 })],
  ['event_endpoints', endpoint({ endpoint_id: 'ep_1' })],
  ['event_endpoints', endpoint({ endpoint_id: 'ep_new' })],
  ['event_queues', queue({ endpoint_id: 'ep_1' })],
  ['dead_events', deadEvent({ event_number: 1 })],
  ['event_attempts', eventAttempt({ event_number: 1 })],
  ['discrepancies', discrepancy({ discrepancy_id: uuid(1) })],
  ['webhook_notifications', notification({ transmission_id: 'first' })],
  ['gateway_movements', movement({ transaction_key: 'first' })],
  ['reconciliations', run({ reconciliation_id: uuid(1), from_time: '2026-01-01', to_time: '2026-01-02' })],
  ['operator_actions', action({ action_id: uuid(1) })],
  ['open_actions', { action_id: uuid(1) }],
  ['record_journal', journalEntry({ record_number: 1 })],
  ['record_journal_head', { last_number: 7 }],
  ['operators', operator({ operator_id: 'opr_1', name: 'first' })],
  ['operator_sessions', session({ session_hash: Buffer.alloc(32, 1) })],
  ['sign_in_failures', wrongPasswords({ subject: Buffer.alloc(32, 1) })],
  ['payment_attempts', gatewayAttempt({ holder_id: uuid(1) })],
  ['cancel_keys', cancelKey({})],
  ['adjustments', adjustment({ adjustment_id: uuid(1), entry_number: 5 })],
  ['adjustment_requests', request({ adjustment_id: uuid(1) })],
  [
    'adjustment_requests',
    request({ adjustment_id: uuid(5), kind: 'PART', discrepancy_id: uuid(5), order_id: 'confirmed', amount: 1000 }),
  ],
  ['adjustment_days', { actor: 'kim', day: '2026-01-01', credits: 1 }],
  ['hourly_figures', figure({ hour: '2026-01-01T00:00:00Z' })],
  ['figures_reached', { reached: 'now' }],
  ['customer_figures', { customer_id: customer, revenue: 1000, orders: 1 }],
  ['audits', auditRow({ audit_id: uuid(1) })],
  ['daily_audits', dailyAudit({ day: '2026-01-01' })],
  ['sweeping_processes', { process_id: uuid(1), lease_until: 'now' }],
]
