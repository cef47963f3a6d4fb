// The API of the console on one page: for each endpoint its input, its data, and the permission it needs. The routes are built
// from it and the page takes its types from it, so the two cannot disagree.
import type Type from 'typebox'
import { isRequest } from '../credits/adjustments/adjust.ts'
import { StatementData, StatementQuery, UseData, UseQuery } from '../credits/schemas.ts'
import { isPartlyResent } from '../events/resend.ts'
import type { Permission } from '../operators/permissions.ts'
import { needsAttention } from '../payments/recovery/review-order.ts'
import { StatementReceiptQuery } from '../transparency/receipts/schemas.ts'
import { ActionLogData, ActionLogQuery } from './action-log/contract.ts'
import {
  AdjustedData,
  AdjustmentParams,
  AdjustmentsData,
  AdjustmentsQuery,
  CorrectionBody,
  GoodwillBody,
} from './adjustments/contract.ts'
import {
  AcceptBody,
  AcceptedData,
  AuditData,
  AuditParams,
  AuditsData,
  AuditsQuery,
  DaysData,
  DaysQuery,
  DiscrepanciesData,
  DiscrepanciesQuery,
  DiscrepancyPageData,
  DiscrepancyParams,
  NewKeyCancelsData,
  NewKeyCancelsQuery,
  PartQuoteData,
  PaymentsData,
  PaymentsQuery,
  ReconcileBody,
  ReconcileData,
  ResolvedData,
  RunData,
  RunParams,
  RunsData,
  RunsQuery,
} from './books/contract.ts'
import {
  BudgetListData,
  BudgetParams,
  CreateCustomerBody,
  CreatedCustomerData,
  CustomerData,
  CustomerLotsData,
  CustomerLotsQuery,
  CustomerStatusData,
  CustomersData,
  CustomersQuery,
  HoldsData,
  HoldsQuery,
  IssuedKeyData,
  KeyStatusData,
  LowCreditsBody,
  LowCreditsData,
  RemovedBudgetData,
  RotatedKeyData,
  SetBudgetBody,
  SetBudgetData,
} from './customers/contract.ts'
import type { EndpointName } from './endpoints.ts'
import {
  AddEndpointBody,
  AddedEndpointData,
  DeadEventsData,
  DeadEventsQuery,
  EndpointSecretData,
  EndpointStatusData,
  EventAttemptsData,
  EventAttemptsQuery,
  EventEndpointData,
  EventEndpointParams,
  EventEndpointsData,
  RemovedEndpointData,
  ResendDeadBody,
  ResendDeadData,
  RetryBody,
  RetryData,
  TestEventData,
} from './events/contract.ts'
import { HomeData, HomeQuery } from './home/contract.ts'
import {
  OrderData,
  OrdersData,
  OrdersQuery,
  RefundData,
  RefundQuoteData,
  RefundUnusedBody,
  ResendData,
  SettleData,
} from './orders/contract.ts'
import { CustomerParams, KeyParams, OrderParams, ReasonBody } from './schema-types.ts'
import { SearchData, SearchQuery } from './search/contract.ts'
import { NothingData, OperatorsData, PasswordBody, SessionData, SignInBody } from './session/contract.ts'
import {
  IssuedTokenData,
  IssueTokenBody,
  RemovedServiceBudgetData,
  ServiceBudgetBody,
  ServiceBudgetData,
  ServiceBudgetParams,
  ServiceBudgetsData,
  ServiceParams,
  ServicesData,
  TokenStatusData,
} from './tokens/contract.ts'
import { PublicationsData, ReceiptFileData, TransparencyLogData } from './transparency/contract.ts'

export type ConsoleEndpoint = {
  /** `public`: without a session. `signed in`: also before a first password was changed. */
  for: Permission | 'public' | 'signed in'
  /** The command under which the action log has it. An endpoint without one writes no action. */
  action?: string
  /** What the action is about, where that is not the first id of its path. */
  subject?: 'a new customer' | 'the customer of the key' | 'the customer of the adjustment'
  /** Whether the action log records this result as a failure, as it does for the command of the same name. */
  failed?(data: never): boolean
  /** Whether it waits for another operator now. */
  requested?(data: never): boolean
  params?: Type.TSchema
  query?: Type.TSchema
  body?: Type.TSchema
  data: Type.TSchema
}

export const contract = {
  signIn: { for: 'public', body: SignInBody, data: SessionData },
  session: { for: 'signed in', data: SessionData },
  signOut: { for: 'signed in', data: NothingData },
  changePassword: { for: 'signed in', body: PasswordBody, data: SessionData },

  home: { for: 'read', query: HomeQuery, data: HomeData },
  search: { for: 'read', query: SearchQuery, data: SearchData },

  orders: { for: 'read', query: OrdersQuery, data: OrdersData },
  order: { for: 'read', params: OrderParams, data: OrderData },
  settleOrder: {
    for: 'settle',
    action: 'orders settle',
    failed: needsAttention,
    params: OrderParams,
    body: ReasonBody,
    data: SettleData,
  },
  refundQuote: { for: 'refund', params: OrderParams, data: RefundQuoteData },
  refundOrder: { for: 'refund', action: 'orders refund', params: OrderParams, body: ReasonBody, data: RefundData },
  refundUnused: {
    for: 'refund',
    action: 'orders refund',
    params: OrderParams,
    body: RefundUnusedBody,
    data: RefundData,
  },
  resendEvents: {
    for: 'resend events',
    action: 'orders resend-events',
    failed: isPartlyResent,
    params: OrderParams,
    body: ReasonBody,
    data: ResendData,
  },
  addOrderNote: {
    for: 'write notes',
    action: 'orders note',
    params: OrderParams,
    body: ReasonBody,
    data: NothingData,
  },
  orderReceipt: { for: 'read', params: OrderParams, data: ReceiptFileData },

  customers: { for: 'read', query: CustomersQuery, data: CustomersData },
  createCustomer: {
    for: 'manage customers',
    action: 'customers create',
    subject: 'a new customer',
    body: CreateCustomerBody,
    data: CreatedCustomerData,
  },
  createCustomerWithKey: {
    for: 'issue keys',
    action: 'customers create',
    subject: 'a new customer',
    body: CreateCustomerBody,
    data: IssuedKeyData,
  },
  customer: { for: 'read', params: CustomerParams, data: CustomerData },
  statement: { for: 'read', params: CustomerParams, query: StatementQuery, data: StatementData },
  use: { for: 'read', params: CustomerParams, query: UseQuery, data: UseData },
  statementReceipt: { for: 'read', params: CustomerParams, query: StatementReceiptQuery, data: ReceiptFileData },
  holds: { for: 'read', params: CustomerParams, query: HoldsQuery, data: HoldsData },
  lots: { for: 'read', params: CustomerParams, query: CustomerLotsQuery, data: CustomerLotsData },
  adjustments: { for: 'read', params: CustomerParams, query: AdjustmentsQuery, data: AdjustmentsData },
  grantGoodwill: {
    for: 'adjust',
    action: 'adjustments grant',
    params: CustomerParams,
    body: GoodwillBody,
    requested: isRequest,
    data: AdjustedData,
  },
  correctBalance: {
    for: 'adjust',
    action: 'adjustments correct',
    params: CustomerParams,
    body: CorrectionBody,
    requested: isRequest,
    data: AdjustedData,
  },
  approveAdjustment: {
    for: 'approve adjustments',
    action: 'adjustments approve',
    subject: 'the customer of the adjustment',
    params: AdjustmentParams,
    body: ReasonBody,
    data: AdjustedData,
  },
  rejectAdjustment: {
    for: 'approve adjustments',
    action: 'adjustments reject',
    subject: 'the customer of the adjustment',
    params: AdjustmentParams,
    body: ReasonBody,
    data: AdjustedData,
  },
  budgets: { for: 'read', params: CustomerParams, data: BudgetListData },
  setBudget: {
    for: 'manage customers',
    action: 'budgets set',
    params: CustomerParams,
    body: SetBudgetBody,
    data: SetBudgetData,
  },
  removeBudget: {
    for: 'manage customers',
    action: 'budgets remove',
    params: BudgetParams,
    body: ReasonBody,
    data: RemovedBudgetData,
  },
  suspendCustomer: {
    for: 'suspend keys',
    action: 'customers suspend',
    params: CustomerParams,
    body: ReasonBody,
    data: CustomerStatusData,
  },
  activateCustomer: {
    for: 'issue keys',
    action: 'customers activate',
    params: CustomerParams,
    body: ReasonBody,
    data: CustomerStatusData,
  },
  setLowCredits: {
    for: 'manage customers',
    action: 'customers low-credits',
    params: CustomerParams,
    body: LowCreditsBody,
    data: LowCreditsData,
  },
  addCustomerNote: {
    for: 'write notes',
    action: 'customers note',
    params: CustomerParams,
    body: ReasonBody,
    data: NothingData,
  },
  issueKey: {
    for: 'issue keys',
    action: 'keys issue',
    params: CustomerParams,
    body: ReasonBody,
    data: IssuedKeyData,
  },
  suspendKey: {
    for: 'suspend keys',
    action: 'keys suspend',
    subject: 'the customer of the key',
    params: KeyParams,
    body: ReasonBody,
    data: KeyStatusData,
  },
  activateKey: {
    for: 'issue keys',
    action: 'keys activate',
    subject: 'the customer of the key',
    params: KeyParams,
    body: ReasonBody,
    data: KeyStatusData,
  },
  rotateKey: {
    for: 'issue keys',
    action: 'keys rotate',
    subject: 'the customer of the key',
    params: KeyParams,
    body: ReasonBody,
    data: RotatedKeyData,
  },

  days: { for: 'read', query: DaysQuery, data: DaysData },
  runs: { for: 'read', query: RunsQuery, data: RunsData },
  run: { for: 'read', params: RunParams, data: RunData },
  reconcile: { for: 'reconcile', action: 'reconcile', body: ReconcileBody, data: ReconcileData },
  payments: { for: 'read', query: PaymentsQuery, data: PaymentsData },
  newKeyCancels: { for: 'refund', query: NewKeyCancelsQuery, data: NewKeyCancelsData },
  audits: { for: 'read', query: AuditsQuery, data: AuditsData },
  audit: { for: 'read', params: AuditParams, data: AuditData },
  discrepancies: { for: 'read', query: DiscrepanciesQuery, data: DiscrepanciesData },
  discrepancy: { for: 'read', params: DiscrepancyParams, data: DiscrepancyPageData },
  resolveDiscrepancy: {
    for: 'resolve discrepancies',
    action: 'discrepancies resolve',
    params: DiscrepancyParams,
    body: ReasonBody,
    data: ResolvedData,
  },
  partQuote: { for: 'refund', params: DiscrepancyParams, data: PartQuoteData },
  acceptDiscrepancy: {
    for: 'refund',
    action: 'discrepancies accept',
    params: DiscrepancyParams,
    body: AcceptBody,
    requested: isRequest,
    data: AcceptedData,
  },
  transparencyLog: { for: 'read', data: TransparencyLogData },
  publications: { for: 'read', data: PublicationsData },

  eventEndpoints: { for: 'read', data: EventEndpointsData },
  eventEndpoint: { for: 'read', params: EventEndpointParams, data: EventEndpointData },
  eventAttempts: {
    for: 'read',
    params: EventEndpointParams,
    query: EventAttemptsQuery,
    data: EventAttemptsData,
  },
  deadEvents: { for: 'read', params: EventEndpointParams, query: DeadEventsQuery, data: DeadEventsData },
  addEndpoint: { for: 'manage endpoints', action: 'endpoints add', body: AddEndpointBody, data: AddedEndpointData },
  disableEndpoint: {
    for: 'manage endpoints',
    action: 'endpoints disable',
    params: EventEndpointParams,
    body: ReasonBody,
    data: EndpointStatusData,
  },
  enableEndpoint: {
    for: 'manage endpoints',
    action: 'endpoints enable',
    params: EventEndpointParams,
    body: ReasonBody,
    data: EndpointStatusData,
  },
  rotateEndpoint: {
    for: 'manage endpoints',
    action: 'endpoints rotate',
    params: EventEndpointParams,
    body: ReasonBody,
    data: EndpointSecretData,
  },
  removeEndpoint: {
    for: 'manage endpoints',
    action: 'endpoints remove',
    params: EventEndpointParams,
    body: ReasonBody,
    data: RemovedEndpointData,
  },
  retryEndpoint: {
    for: 'resend events',
    action: 'endpoints retry',
    params: EventEndpointParams,
    body: RetryBody,
    data: RetryData,
  },
  testEndpoint: {
    for: 'manage endpoints',
    action: 'endpoints test',
    failed: ({ accepted }: { accepted: boolean }) => !accepted,
    params: EventEndpointParams,
    body: ReasonBody,
    data: TestEventData,
  },
  resendDead: {
    for: 'resend events',
    action: 'events resend',
    failed: ({ failed }: { failed: number }) => failed > 0,
    params: EventEndpointParams,
    body: ResendDeadBody,
    data: ResendDeadData,
  },

  services: { for: 'read', data: ServicesData },
  issueToken: { for: 'issue tokens', action: 'services issue', body: IssueTokenBody, data: IssuedTokenData },
  suspendToken: {
    for: 'issue tokens',
    action: 'services suspend',
    params: ServiceParams,
    body: ReasonBody,
    data: TokenStatusData,
  },
  activateToken: {
    for: 'issue tokens',
    action: 'services activate',
    params: ServiceParams,
    body: ReasonBody,
    data: TokenStatusData,
  },
  serviceBudgets: { for: 'read', data: ServiceBudgetsData },
  setServiceBudget: {
    for: 'issue tokens',
    action: 'budgets set',
    body: ServiceBudgetBody,
    data: ServiceBudgetData,
  },
  removeServiceBudget: {
    for: 'issue tokens',
    action: 'budgets remove',
    params: ServiceBudgetParams,
    body: ReasonBody,
    data: RemovedServiceBudgetData,
  },

  actionLog: { for: 'read', query: ActionLogQuery, data: ActionLogData },
  operators: { for: 'see operators', data: OperatorsData },
} as const satisfies Record<EndpointName, ConsoleEndpoint>

export type Contract = typeof contract

type StaticOf<Of, Part extends string> = Of extends { [Name in Part]: infer Schema extends Type.TSchema }
  ? Type.Static<Schema>
  : undefined

export type Params<Name extends EndpointName> = StaticOf<Contract[Name], 'params'>
export type Query<Name extends EndpointName> = StaticOf<Contract[Name], 'query'>
export type Body<Name extends EndpointName> = StaticOf<Contract[Name], 'body'>
export type Data<Name extends EndpointName> = StaticOf<Contract[Name], 'data'>
