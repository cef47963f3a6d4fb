// The public API of the package.
export {
  type CreditsClient,
  type CreditsClientOptions,
  createCreditsClient,
  type PurchaseOptions,
} from './credits-client.ts'
export {
  type ClientCode,
  type CreditsError,
  type CreditsErrorOf,
  isCreditsError,
  type NoAnswerError,
  type Outcome,
  type ServiceCode,
  type ServiceError,
} from './errors.ts'
export type { CallOptions, ClientOptions, Fetch } from './settings.ts'
export {
  createSpendingClient,
  type SpendingClient,
  type SpendingClientOptions,
  type StatementRequest,
} from './spending-client.ts'
export type {
  Balance,
  Cancellation,
  CancelRequest,
  CaptureRequest,
  Confirmation,
  ConfirmRequest,
  CreditPackage,
  CreditsEvent,
  CreditsLowEvent,
  EndedHold,
  EntryKind,
  Hold,
  HoldRequest,
  OperationId,
  OrderCancelledEvent,
  OrderConfirmedEvent,
  OrderFailedEvent,
  OrderRefundedEvent,
  OrderStatus,
  PackageType,
  PaymentOrder,
  Purchase,
  PurchaseRequest,
  ReleaseRequest,
  Spend,
  SpendRequest,
  Statement,
  StatementEntry,
} from './types.ts'
