// The API of the console on one page: of each endpoint what it takes, what it gives, and who may call it. The routes are
// made of it, and so are the types of the page: neither can say what the other does not know.
import type Type from 'typebox'
import { StatementData, StatementQuery } from '../credits/schemas.ts'
import { isPartlyResent } from '../events/resend.ts'
import type { Permission } from '../operators/permissions.ts'
import { needsAttention } from '../payments/recovery/review-order.ts'
import { AuditData, AuditParams, AuditsData, AuditsQuery } from './books/audit-contract.ts'
import {
  DaysData,
  DaysQuery,
  DiscrepanciesData,
  DiscrepanciesQuery,
  DiscrepancyPageData,
  DiscrepancyParams,
  ReconcileBody,
  ReconcileData,
  ResolvedData,
  RunData,
  RunParams,
  RunsData,
  RunsQuery,
} from './books/contract.ts'
import { NewKeyCancelsData, NewKeyCancelsQuery } from './books/new-key-cancels-contract.ts'
import {
  CreateCustomerBody,
  CreatedCustomerData,
  CustomerData,
  CustomersData,
  CustomersQuery,
  HoldsData,
  HoldsQuery,
  IssuedKeyData,
  KeyStatusData,
  LowCreditsBody,
  LowCreditsData,
  RotatedKeyData,
} from './customers/contract.ts'
import type { EndpointName } from './endpoints.ts'
import { HomeData, HomeQuery, SearchData, SearchQuery } from './home/contract.ts'
import {
  OrderData,
  OrdersData,
  OrdersQuery,
  RefundData,
  RefundQuoteData,
  ResendData,
  SettleData,
} from './orders/contract.ts'
import { CustomerParams, KeyParams, OrderParams, ReasonBody } from './schema-words.ts'
import {
  NothingData,
  OperatorsData,
  PasswordBody,
  SessionData,
  SignInBody,
  TrailData,
  TrailQuery,
} from './session/contract.ts'

export type Endpoint = {
  /** `anybody`: not signed in. `signed in`: before a first password was changed, too. */
  for: Permission | 'anybody' | 'signed in'
  /** What it is called in the trail; what has none changes nothing there. */
  trail?: string
  /** Whose trail it is on, where that is not the first id of its path. */
  subject?: 'a new customer' | 'the customer of the key'
  /** An answer that the trail has as a failure, as it has that of the command. */
  failed?(data: never): boolean
  params?: Type.TSchema
  query?: Type.TSchema
  body?: Type.TSchema
  data: Type.TSchema
}

export const contract = {
  signIn: { for: 'anybody', body: SignInBody, data: SessionData },
  session: { for: 'signed in', data: SessionData },
  signOut: { for: 'signed in', data: NothingData },
  changePassword: { for: 'signed in', body: PasswordBody, data: SessionData },

  home: { for: 'read', query: HomeQuery, data: HomeData },
  search: { for: 'read', query: SearchQuery, data: SearchData },

  orders: { for: 'read', query: OrdersQuery, data: OrdersData },
  order: { for: 'read', params: OrderParams, data: OrderData },
  settleOrder: {
    for: 'settle',
    trail: 'orders settle',
    failed: needsAttention,
    params: OrderParams,
    body: ReasonBody,
    data: SettleData,
  },
  refundQuote: { for: 'refund', params: OrderParams, data: RefundQuoteData },
  refundOrder: { for: 'refund', trail: 'orders refund', params: OrderParams, body: ReasonBody, data: RefundData },
  resendEvents: {
    for: 'resend events',
    trail: 'orders resend-events',
    failed: isPartlyResent,
    params: OrderParams,
    body: ReasonBody,
    data: ResendData,
  },

  customers: { for: 'read', query: CustomersQuery, data: CustomersData },
  createCustomer: {
    for: 'manage customers',
    trail: 'customers create',
    subject: 'a new customer',
    body: CreateCustomerBody,
    data: CreatedCustomerData,
  },
  createCustomerWithKey: {
    for: 'issue keys',
    trail: 'customers create',
    subject: 'a new customer',
    body: CreateCustomerBody,
    data: IssuedKeyData,
  },
  customer: { for: 'read', params: CustomerParams, data: CustomerData },
  statement: { for: 'read', params: CustomerParams, query: StatementQuery, data: StatementData },
  holds: { for: 'read', params: CustomerParams, query: HoldsQuery, data: HoldsData },
  setLowCredits: {
    for: 'manage customers',
    trail: 'customers low-credits',
    params: CustomerParams,
    body: LowCreditsBody,
    data: LowCreditsData,
  },
  issueKey: {
    for: 'issue keys',
    trail: 'keys issue',
    params: CustomerParams,
    body: ReasonBody,
    data: IssuedKeyData,
  },
  suspendKey: {
    for: 'suspend keys',
    trail: 'keys suspend',
    subject: 'the customer of the key',
    params: KeyParams,
    body: ReasonBody,
    data: KeyStatusData,
  },
  activateKey: {
    for: 'issue keys',
    trail: 'keys activate',
    subject: 'the customer of the key',
    params: KeyParams,
    body: ReasonBody,
    data: KeyStatusData,
  },
  rotateKey: {
    for: 'issue keys',
    trail: 'keys rotate',
    subject: 'the customer of the key',
    params: KeyParams,
    body: ReasonBody,
    data: RotatedKeyData,
  },

  days: { for: 'read', query: DaysQuery, data: DaysData },
  runs: { for: 'read', query: RunsQuery, data: RunsData },
  run: { for: 'read', params: RunParams, data: RunData },
  reconcile: { for: 'reconcile', trail: 'reconcile', body: ReconcileBody, data: ReconcileData },
  newKeyCancels: { for: 'refund', query: NewKeyCancelsQuery, data: NewKeyCancelsData },
  audits: { for: 'read', query: AuditsQuery, data: AuditsData },
  audit: { for: 'read', params: AuditParams, data: AuditData },
  discrepancies: { for: 'read', query: DiscrepanciesQuery, data: DiscrepanciesData },
  discrepancy: { for: 'read', params: DiscrepancyParams, data: DiscrepancyPageData },
  resolveDiscrepancy: {
    for: 'resolve discrepancies',
    trail: 'discrepancies resolve',
    params: DiscrepancyParams,
    body: ReasonBody,
    data: ResolvedData,
  },

  trail: { for: 'read', query: TrailQuery, data: TrailData },
  operators: { for: 'see operators', data: OperatorsData },
} as const satisfies Record<EndpointName, Endpoint>

export type Contract = typeof contract

type StaticOf<Of, Part extends string> = Of extends { [Name in Part]: infer Schema extends Type.TSchema }
  ? Type.Static<Schema>
  : undefined

export type Params<Name extends EndpointName> = StaticOf<Contract[Name], 'params'>
export type Query<Name extends EndpointName> = StaticOf<Contract[Name], 'query'>
export type Body<Name extends EndpointName> = StaticOf<Contract[Name], 'body'>
export type Data<Name extends EndpointName> = StaticOf<Contract[Name], 'data'>
