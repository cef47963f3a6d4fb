// Every field that an answer of the console may have, repeated here: a new field of an answer has to be added here too, and its
// author has to consider which roles read it. The harnesses of the console's tests compare every answer with this list, which
// also covers the parts that the schemas leave open (details, the subject of an action).
import assert from 'node:assert/strict'
import type { EndpointName, exports as files } from '../../../src/console/endpoints.ts'

/** Names by their path: `orders[].` is the prefix for the fields of each order. */
type Fields = Record<string, string>

const session = { '': 'name role permissions[] mustChangePassword endsAt idleEndsAt' }
const sums =
  'ordersMade ordersConfirmed ordersFailed ordersExpired ordersCancelled ordersRefunded captured returned netPaid creditsSold creditsTakenBack creditsSpent creditsAdjusted conversion'
const orderRow =
  'orderId customerId customerName status packageType amount credits createdAt confirmedAt refundedAmount'
const failure = 'reason gatewayCode'
const paidWith = 'method provider cardAmount walletAmount pointsAmount'
const lot =
  'entryNumber orderId packageType status grantedAt amount credits used held unused takenBack value refundedAmount'
const account = 'balance held available'
const used = 'credits units count'
const auditSummary = 'auditId cause begunAt endedAt ageSeconds rules rows violationCount isOnlyUnread'
const runResult =
  'movements captured cancelled bookedCaptured bookedCancelled foreign outsideCaptured outsideCancelled missingCaptured missingCancelled notListed listedDifferently otherServices unknownOrders'
const reviewed = 'agrees|repaired|disagrees|under way|unknown'
const run = 'reconciliationId cause requestedBy from to startedAt finishedAt state outcome'
const discrepancy =
  'discrepancyId kind subject customerId customerName orderId amount foundAt lastSeenAt resolvedAt resolution'

/** The detail of a discrepancy. */
function discrepancyDetail(place: string): Fields {
  return {
    [place]:
      'operationId operationKind operationAmount attempts gatewayCode paymentKey orderId orderStatus orderAmount refundedAmount direction amount movedAt balance',
    [`${place}gateway.`]:
      'orderId status amount balance totalAmount balanceAmount currency paymentKey direction movedAt',
    [`${place}stored.`]: 'orderId paymentKey direction amount movedAt',
  }
}

/** The detail of a moment, by the kinds of src/console/orders/contract.ts. */
function storyDetail(place: string): Fields {
  const names = [
    'packageType amount credits',
    'operationId kind paymentKey reason creditsHeld state gatewayCode transactionKey attempts count until',
    'entryNumber delta heldDelta balanceAfter operationKind',
    'eventNumber eventId type eventType status receivedAt processedAt outcome',
    'discrepancyId lastSeenAt resolvedAt resolution actionId actor command refusal endedAt',
  ]
  return {
    [place]: names.join(' '),
    [`${place}codes[].`]: 'gatewayCode count',
    [`${place}deliveries[].`]: 'endpointId host endpointStatus state error attempts nextTryAt',
    ...discrepancyDetail(`${place}detail.`),
  }
}

const pendingAdjustment =
  'customerId customerName adjustmentId kind credits reason requestedBy typedBy requestedAt orderId amount'
const budgets = {
  'budgets[].': 'budgetId scope value period credits warnAt renewsAt countsSince',
  'budgets[].uses[].': 'value used left',
}
const eventEndpoint = 'endpointId host types[] status createdAt waitingEvents waitingCustomers failingSince deadEvents'
const adjusted = { '': 'adjustmentId customerId kind credits state available' }

const fields: Record<EndpointName, Fields> = {
  signIn: session,
  session,
  signOut: {},
  changePassword: session,

  home: {
    '': 'asOf creditsOutstanding figuresUpTo expiredUpTo isAuditOverdue waitingNotifications ordersExpired',
    'today.': `from to ${sums}`,
    'month.': `from to ${sums}`,
    ...Object.fromEntries(
      ['today', 'month'].flatMap((period) => [
        [`${period}.comparison.`, 'upTo'],
        [`${period}.comparison.now.`, sums],
        [`${period}.comparison.before.`, sums],
      ]),
    ),
    'days[].': `day creditsOutstanding ${sums}`,
    'orders.': 'PENDING CONFIRMED FAILED CANCELLED REFUNDED',
    'operations.': 'count',
    'operations.oldest[].':
      'customerId customerName orderId kind openedAt ageSeconds attempts gatewayCode nextAttemptAt',
    'discrepancies.': 'count amount withoutAmount',
    'discrepancies.oldest[].': 'discrepancyId kind subject customerId customerName orderId amount foundAt ageSeconds',
    'pendingAdjustments[].': pendingAdjustment,
    'audit.': auditSummary,
    'events.': 'undelivered dead oldestSeconds',
    'gateway.': 'state since heldBack',
  },
  search: { 'results[].': 'kind id orderId customerId customerName status' },

  orders: {
    '': 'nextCursor',
    'matched.': 'count amount kept among',
    'orders[].': `${orderRow} openOperation`,
    'orders[].failure.': failure,
  },
  order: {
    'order.': `${orderRow} paymentKey cardNumber approvalNumber receiptUrl paymentUrl refundShortfall notified`,
    'order.paidWith.': paidWith,
    'order.failure.': failure,
    'order.parts.': 'amount credits',
    'order.ended.': 'at by operator keyLastFour reason amount credits',
    'lot.': lot,
    'story[].': 'at kind',
    ...storyDetail('story[].detail.'),
    'open.': 'kind openedAt attempts attemptsAtMost gatewayCode nextAttemptAt',
    'openDiscrepancies[].': 'discrepancyId kind foundAt amount paymentUrl',
    ...discrepancyDetail('openDiscrepancies[].detail.'),
    'actions[].': 'action allowed why code',
  },
  settleOrder: { '': 'result status' },
  refundQuote: {
    '': 'orderId customerId packageType paid backToTheCard gatewayCode creditsOfTheOrder creditsTakenBack shortfall unusedRefusal',
    'unused.': 'rule amount credits value',
    'unused.terms.': 'from fullPriceDays smallestAmount sharePercent',
  },
  refundOrder: { '': 'orderId status refundedAmount creditsTakenBack shortfall' },
  refundUnused: { '': 'orderId status refundedAmount creditsTakenBack shortfall' },
  resendEvents: { '': 'delivered', 'failed[].': 'endpointId type error' },
  addOrderNote: {},
  orderReceipt: { '': 'name content' },

  customers: {
    '': 'nextCursor figuresUpTo',
    'customers[].': 'customerId name createdAt balance held netPaid orders lastPurchaseAt suspendedAt',
  },
  createCustomer: { '': 'customerId' },
  createCustomerWithKey: { '': 'customerId keyId apiKey' },
  customer: {
    '': `customerId name createdAt suspendedAt netPaid orders lastPurchaseAt figuresUpTo ${account}`,
    'keys[].': 'keyId lastFour status createdAt suspendedAt',
    'limits.': 'pendingOrders pendingOrdersAtMost requestsPerSecond lowCredits[]',
    'notes[].': 'at actor note',
  },
  statement: {
    '': 'customerId nextCursor',
    'balance.': account,
    'opening.': account,
    'lots[].': lot,
    'closing.': account,
    'setAside[].': 'by holdId credits reference orderId service expiresAt',
    'entries[].':
      'entryNumber kind delta heldDelta balanceAfter heldAfter availableAfter orderId reference holdId service keyId userId label units createdAt',
    'entries[].paidWith.': paidWith,
  },
  use: {
    '': 'customerId by from to',
    'rows[].': `day value ${used}`,
    'sums[].': `value ${used}`,
    'others.': used,
    'total.': used,
  },
  lots: { '': 'nextCursor', 'lots[].': lot },
  statementReceipt: { '': 'name content' },
  holds: { '': 'nextCursor', 'holds[].': 'holdId credits capturedInParts reference service expiresAt' },
  adjustments: {
    '': 'nextCursor',
    'limits.': 'perDay usedToday approvalAbove',
    'pending[].': pendingAdjustment,
    'adjustments[].':
      'adjustmentId entryNumber kind credits reason actor approvedBy typedBy approvalTypedBy service reference reversedReference createdAt',
  },
  grantGoodwill: adjusted,
  correctBalance: adjusted,
  approveAdjustment: adjusted,
  rejectAdjustment: adjusted,
  budgets,
  setBudget: { '': 'customerId budgetId warnAt' },
  removeBudget: { '': 'customerId budgetId' },
  suspendCustomer: { '': 'customerId status' },
  activateCustomer: { '': 'customerId status' },
  addCustomerNote: {},
  setLowCredits: { '': 'customerId lowCredits[]' },
  issueKey: { '': 'customerId keyId apiKey' },
  suspendKey: { '': 'keyId status' },
  activateKey: { '': 'keyId status' },
  rotateKey: { '': 'customerId keyId apiKey suspendedKeyId' },

  days: {
    'days[].': 'day state movements difference reconciliationId comparedAt',
    'days[].gateway.': 'captured cancelled net',
    'days[].books.': 'captured cancelled net',
  },
  runs: { '': 'nextCursor', 'runs[].': run, 'runs[].result.': runResult, 'runs[].result.reviewed.': reviewed },
  run: {
    '': run,
    'result.': runResult,
    'result.reviewed.': reviewed,
    'bridge.lines[].':
      'amount of direction result at orderId customerId customerName paymentKey transactionKey discrepancyId kind resolvedAt',
    'bridge.rest.': 'lines amount',
  },
  reconcile: { '': 'reconciliationId' },
  payments: {
    '': 'nextCursor',
    'matched.': 'count amount',
    'payments[].': 'operationId group kind orderId customerId customerName amount credits closedAt',
  },
  newKeyCancels: {
    '': 'nextCursor',
    'cancels[].': 'operationId openedAt state orderId customerId customerName amount keyId lastFour keyAgeSeconds',
  },
  audits: { '': 'nextCursor', 'audits[].': auditSummary },
  audit: {
    '': auditSummary,
    'checked.':
      'accounts entries holds adjustments orders operations events usage customers apiKeys serviceTokens operators operatorActions discrepancies audits budgets eventEndpoints logCheckpoints journalEntries loggedEntries publishedCheckpoints',
    'findings[].': 'invariant rule count',
    'findings[].subjects[].': 'customerId orderId kind table name fault record recordNumber scan rows counted',
  },
  discrepancies: {
    '': 'nextCursor',
    'open.': 'amount withoutAmount',
    'discrepancies[].': discrepancy,
    ...discrepancyDetail('discrepancies[].detail.'),
  },
  discrepancy: {
    '': 'paymentUrl',
    'discrepancy.': discrepancy,
    ...discrepancyDetail('discrepancy.detail.'),
    'order.': 'orderId status amount credits',
    'history[].': 'at kind',
    ...storyDetail('history[].detail.'),
    'others[].': 'discrepancyId kind foundAt resolvedAt resolution',
    'actions[].': 'action allowed code',
  },
  resolveDiscrepancy: { '': 'discrepancyId kind resolution' },
  partQuote: {
    '': 'orderId paid creditsOfTheOrder creditsUsed amount proposed most unused valueAfter',
    'limits.': 'perDay usedToday approvalAbove',
  },
  acceptDiscrepancy: { '': 'orderId discrepancyId state requestId amount creditsTaken creditsLeft value' },
  publications: { 'witnesses[].': 'name host size cosignedAt', 'checkpoints[].': 'size root publishedAt cosigners[]' },
  transparencyLog: {
    '': 'keys[] waiting waitingIsMore',
    'checkpoint.': 'size root writtenAt',
    'heldBack.': 'restoreId origin size restoredAt',
  },

  eventEndpoints: { '': 'knownTypes[]', 'endpoints[].': eventEndpoint },
  eventEndpoint: {
    '': eventEndpoint,
    'queues[].': 'customerId customerName nextEvent events attempts error nextTryAt',
  },
  eventAttempts: {
    '': 'nextCursor',
    'attempts[].': 'customerId customerName eventNumber type attemptedAt status error tookMs',
  },
  deadEvents: {
    '': 'nextCursor',
    'dead[].': 'customerId customerName eventNumber type orderId attempts error diedAt',
  },
  addEndpoint: { '': 'endpointId host secret' },
  disableEndpoint: { '': 'endpointId status' },
  enableEndpoint: { '': 'endpointId status' },
  rotateEndpoint: { '': 'endpointId secret' },
  removeEndpoint: { '': 'endpointId' },
  retryEndpoint: { '': 'endpointId customers' },
  testEndpoint: { '': 'endpointId accepted status error tookMs' },
  resendDead: { '': 'endpointId resent left failed', 'errors[].': 'customerId eventNumber type error' },

  services: { 'tokens[].': 'serviceId name lastFour status scopes[] createdAt' },
  issueToken: { '': 'serviceId name scopes[] token' },
  suspendToken: { '': 'serviceId status' },
  activateToken: { '': 'serviceId status' },
  serviceBudgets: { '': 'isPossible', ...budgets },
  setServiceBudget: { '': 'budgetId warnAt' },
  removeServiceBudget: { '': 'budgetId' },

  actionLog: {
    '': 'nextCursor',
    'actions[].': 'actionId at actor command arguments[] subject subjectName reason outcome endedAt',
    'actions[].about.':
      'customerId keyId suspendedKeyId orderId adjustmentId discrepancyId reconciliationId budgetId endpointId serviceId refusal',
  },
  operators: {
    'operators[].': 'operatorId name role status createdAt passwordSetAt lastSeenAt mustChangePassword',
  },
}

/** The columns of the exported files. */
export const columnsOf: Record<keyof typeof files, string> = {
  orders:
    'orderId,createdAtKst,createdAt,customerId,customerName,packageType,amount,credits,status,failure,gatewayCode,confirmedAtKst,confirmedAt,refundedAmount,openOperation,paidMethod,paidProvider,cardAmount,walletAmount,pointsAmount',
  days: 'day,state,movements,gatewayCaptured,gatewayCancelled,gatewayNet,booksCaptured,booksCancelled,booksNet,difference,comparedAtKst,comparedAt,reconciliationId,isOver',
  payments:
    'timeKst,time,day,orderId,customerId,customerName,packageType,credits,kind,krw,supply,vat,status,operator,reason,paymentKey,transactionKey,paidMethod,paidProvider,cardAmount,walletAmount,pointsAmount',
  discrepancies:
    'discrepancyId,kind,subject,customerId,customerName,orderId,amount,foundAtKst,foundAt,lastSeenAtKst,lastSeenAt,resolvedAtKst,resolvedAt,resolution,detail',
  liability:
    'customerId,customerName,orderId,packageType,status,grantedAtKst,grantedAt,amount,credits,used,unspent,value,takenBack',
  use: 'day,service,credits,units,count',
  statement:
    'entryNumber,createdAtKst,createdAt,kind,delta,heldDelta,balanceAfter,heldAfter,availableAfter,orderId,reference,holdId,service,keyId,userId,label,units,paidMethod,paidProvider,cardAmount,walletAmount,pointsAmount',
}

export const namedEndpoints = Object.keys(fields)

function pathsOf(endpoint: EndpointName): Set<string> {
  const places = Object.entries(fields[endpoint] ?? {})
  // One list has a name with a space.
  const namesOf = (names: string) => names.split(names.includes('|') ? '|' : ' ')
  return new Set(places.flatMap(([place, names]) => namesOf(names).map((name) => `${place}${name}`)))
}

type Schema = {
  anyOf?: Schema[]
  type?: string
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: object
  additionalProperties?: object
}

/** In the form of the paths above; a record with arbitrary names ends with a star. */
function schemaPaths(schema: Schema, path = ''): string[] {
  if (schema.anyOf) return schema.anyOf.filter(({ type }) => type !== 'null').flatMap((each) => schemaPaths(each, path))
  if (schema.items) return schemaPaths(schema.items, `${path}[]`)
  if (schema.patternProperties ?? schema.additionalProperties) return [`${path}.*`]
  if (!schema.properties) return path === '' ? [] : [path]
  const dot = path === '' ? '' : '.'
  return Object.entries(schema.properties).flatMap(([name, each]) => schemaPaths(each, `${path}${dot}${name}`))
}

/** Fields that only the schema has, and fields that only the list has. */
export function fieldDifferences(endpoint: EndpointName, schema: object): string[] {
  const ofSchema = new Set(schemaPaths(schema as Schema))
  const open = [...ofSchema].filter((path) => path.endsWith('.*')).map((path) => path.slice(0, -1))
  const listed = pathsOf(endpoint)
  const isOpen = (path: string) => open.some((place) => path.startsWith(place))
  return [
    ...[...ofSchema].filter((path) => !path.endsWith('.*') && !listed.has(path)).map((path) => `${path} is not listed`),
    ...[...listed].filter((path) => !isOpen(path) && !ofSchema.has(path)).map((path) => `${path} is not in the schema`),
  ]
}

function pathsIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => pathsIn(each, `${path}[]`))
  if (typeof value !== 'object' || value === null) return path === '' ? [] : [path]
  const dot = path === '' ? '' : '.'
  return Object.entries(value).flatMap(([name, each]) => pathsIn(each, `${path}${dot}${name}`))
}

/** An answer has no field that is not listed. */
export function assertListedFields(endpoint: EndpointName, data: unknown): void {
  const listed = pathsOf(endpoint)
  // Null in the place of an object.
  const isListed = (path: string) => listed.has(path) || [...listed].some((each) => each.startsWith(`${path}.`))
  const unlisted = [...new Set(pathsIn(data))].filter((path) => !isListed(path))
  assert.deepEqual(unlisted, [], `fields of ${endpoint} that test/support/console/fields.ts does not list`)
}
