// The endpoints of the console by name: method and path below /console/api. The page is built with this file, so it contains
// nothing else.

export const endpoints = {
  signIn: 'POST /session',
  session: 'GET /session',
  signOut: 'DELETE /session',
  changePassword: 'POST /password',

  home: 'GET /home',
  search: 'GET /search',

  orders: 'GET /orders',
  order: 'GET /orders/:orderId',
  settleOrder: 'POST /orders/:orderId/settle',
  refundQuote: 'GET /orders/:orderId/refund-quote',
  refundOrder: 'POST /orders/:orderId/refund',
  refundUnused: 'POST /orders/:orderId/refund-unused',
  resendEvents: 'POST /orders/:orderId/resend-events',
  addOrderNote: 'POST /orders/:orderId/notes',
  orderReceipt: 'GET /orders/:orderId/receipt',

  customers: 'GET /customers',
  createCustomer: 'POST /customers',
  createCustomerWithKey: 'POST /customers/with-key',
  customer: 'GET /customers/:customerId',
  statement: 'GET /customers/:customerId/statement',
  statementReceipt: 'GET /customers/:customerId/receipt',
  use: 'GET /customers/:customerId/use',
  holds: 'GET /customers/:customerId/holds',
  lots: 'GET /customers/:customerId/lots',
  adjustments: 'GET /customers/:customerId/adjustments',
  grantGoodwill: 'POST /customers/:customerId/goodwill',
  correctBalance: 'POST /customers/:customerId/corrections',
  approveAdjustment: 'POST /adjustments/:adjustmentId/approve',
  rejectAdjustment: 'POST /adjustments/:adjustmentId/reject',
  budgets: 'GET /customers/:customerId/budgets',
  setBudget: 'POST /customers/:customerId/budgets',
  removeBudget: 'POST /customers/:customerId/budgets/:budgetId/remove',
  suspendCustomer: 'POST /customers/:customerId/suspend',
  activateCustomer: 'POST /customers/:customerId/activate',
  setLowCredits: 'POST /customers/:customerId/low-credits',
  addCustomerNote: 'POST /customers/:customerId/notes',
  issueKey: 'POST /customers/:customerId/keys',
  suspendKey: 'POST /keys/:keyId/suspend',
  activateKey: 'POST /keys/:keyId/activate',
  rotateKey: 'POST /keys/:keyId/rotate',

  days: 'GET /books/days',
  runs: 'GET /books/runs',
  run: 'GET /books/runs/:reconciliationId',
  reconcile: 'POST /books/runs',
  payments: 'GET /books/payments',
  newKeyCancels: 'GET /books/new-key-cancels',
  audits: 'GET /books/audits',
  audit: 'GET /books/audits/:auditId',
  discrepancies: 'GET /books/discrepancies',
  discrepancy: 'GET /books/discrepancies/:discrepancyId',
  resolveDiscrepancy: 'POST /books/discrepancies/:discrepancyId/resolve',
  partQuote: 'GET /books/discrepancies/:discrepancyId/part',
  acceptDiscrepancy: 'POST /books/discrepancies/:discrepancyId/accept',
  transparencyLog: 'GET /books/log',
  publications: 'GET /books/log/published',

  eventEndpoints: 'GET /events/endpoints',
  addEndpoint: 'POST /events/endpoints',
  eventEndpoint: 'GET /events/endpoints/:endpointId',
  eventAttempts: 'GET /events/endpoints/:endpointId/attempts',
  deadEvents: 'GET /events/endpoints/:endpointId/dead',
  disableEndpoint: 'POST /events/endpoints/:endpointId/disable',
  enableEndpoint: 'POST /events/endpoints/:endpointId/enable',
  rotateEndpoint: 'POST /events/endpoints/:endpointId/rotate',
  removeEndpoint: 'POST /events/endpoints/:endpointId/remove',
  retryEndpoint: 'POST /events/endpoints/:endpointId/retry',
  testEndpoint: 'POST /events/endpoints/:endpointId/test',
  resendDead: 'POST /events/endpoints/:endpointId/resend',

  services: 'GET /services',
  issueToken: 'POST /services',
  suspendToken: 'POST /services/:serviceId/suspend',
  activateToken: 'POST /services/:serviceId/activate',
  serviceBudgets: 'GET /service-budgets',
  setServiceBudget: 'POST /service-budgets',
  removeServiceBudget: 'POST /service-budgets/:budgetId/remove',

  actionLog: 'GET /trail',
  operators: 'GET /operators',
} as const

export type EndpointName = keyof typeof endpoints

/** CSV files: GET with the session cookie and the same query as their page. */
export const exports = {
  orders: '/orders.csv',
  days: '/books/days.csv',
  payments: '/books/payments.csv',
  discrepancies: '/books/discrepancies.csv',
  liability: '/books/liability.csv',
  statement: '/customers/:customerId/statement.csv',
  use: '/customers/:customerId/use.csv',
} as const

export const apiPath = '/console/api'
