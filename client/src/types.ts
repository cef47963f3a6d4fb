// The types of the API, taken from its document: nothing here is written twice. `schema.mjs` makes `schema.ts`.
import type { Operations, Schemas } from './schema.ts'

/** The endpoints, by the names that the document gives them. */
export type OperationId = keyof Operations

/** The data of an operation's success. */
export type DataOf<Id extends OperationId> = Operations[Id] extends infer Answer
  ? Answer extends { code: 'SUCCESS'; data: infer Data }
    ? Data
    : never
  : never
/** The codes of an operation's refusals. */
export type CodeOf<Id extends OperationId> = Extract<Operations[Id], Schemas['ErrorEnvelope']>['code']
export type MetadataOf<Code extends Schemas['ErrorEnvelope']['code']> = Schemas[Code]['metadata']

export type PackageType = Schemas['PackageType']
export type OrderStatus = Schemas['OrderStatus']
export type CreditPackage = Schemas['CreditPackage']
export type Purchase = Schemas['Purchase']
/** Why a request was refused or an order is FAILED, for programs. The document describes each. */
export type RefusalReason = Schemas['RefusalReason']
/** What the buyer finds on the card statement, from the headers of the answer. Null: the gateway has not sent it. */
export type CardSlip = {
  /** The receipt, a page of the gateway. */
  receiptUrl: string | null
  /** Masked. */
  cardNumber: string | null
  approvalNumber: string | null
}
export type Confirmation = Schemas['Confirmation'] & { slip: CardSlip }
export type Cancellation = Schemas['Cancellation']
/** The slip is empty before the order is confirmed. `refusalReason` is why it is FAILED, and null in every other state. */
export type PaymentOrder = Schemas['PaymentOrder'] & { slip: CardSlip; refusalReason: RefusalReason | null }
/** An order with all that its buyer may know. */
export type Order = Schemas['Order']
export type Orders = Schemas['Orders']
export type Balance = Schemas['Balance']
export type PurchaseRequest = Schemas['PurchaseRequest']
export type ConfirmRequest = Schemas['ConfirmRequest']
export type CancelRequest = Schemas['CancelRequest']

export type Budget = Schemas['Budget']
export type Budgets = Schemas['Budgets']
export type Spend = Schemas['Spend']
export type Reversal = Schemas['Reversal']
export type Hold = Schemas['Hold']
export type DryHold = Schemas['DryHold']
export type CapturedPart = Schemas['CapturedPart']
export type EndedHold = Schemas['EndedHold']
export type Statement = Schemas['Statement']
export type StatementEntry = Schemas['StatementEntry']
export type EntryKind = Schemas['EntryKind']
export type Use = Schemas['Use']
export type UseDimension = Schemas['UseDimension']
export type Lot = Schemas['Lot']
export type Lots = Schemas['Lots']
/** Proves that entries are in the log. Verified without the service, as a file. */
export type Receipt = Schemas['Receipt']
export type RefundQuote = Schemas['RefundQuote']
export type Refund = Schemas['Refund']
export type RefundRequest = Schemas['RefundRequest'] & OrderOfCustomer
export type OrderOfCustomer = { customerId: string; orderId: string }
export type SpendRequest = Omit<Schemas['SpendRequest'], 'dryRun'>
export type HoldRequest = Omit<Schemas['HoldRequest'], 'dryRun'>
export type ExtendRequest = Schemas['ExtendRequest'] & { holdId: string }
export type CaptureRequest = Omit<Schemas['CaptureRequest'], 'final' | 'reference'> & { holdId: string }
export type CapturePartRequest = { customerId: string; holdId: string; credits: number; reference: string }
/** `reversedReference` is the reference of the spend or the hold, `reference` that of the reversal. */
export type ReverseRequest = Schemas['ReverseRequest'] & { reversedReference: string }
export type ReleaseRequest = Schemas['ReleaseRequest'] & { holdId: string }

/** What the service sends to a webhook endpoint. `Event` is a global of browsers. */
export type CreditsEvent = Schemas['Event']
export type OrderConfirmedEvent = Schemas['OrderConfirmedEvent']
export type OrderFailedEvent = Schemas['OrderFailedEvent']
export type OrderCancelledEvent = Schemas['OrderCancelledEvent']
export type OrderRefundedEvent = Schemas['OrderRefundedEvent']
export type CreditsLowEvent = Schemas['CreditsLowEvent']
export type CreditsReversedEvent = Schemas['CreditsReversedEvent']
export type CreditsAdjustedEvent = Schemas['CreditsAdjustedEvent']
export type CreditsEmptyEvent = Schemas['CreditsEmptyEvent']
export type BudgetLowEvent = Schemas['BudgetLowEvent']
export type CheckpointPublishedEvent = Schemas['CheckpointPublishedEvent']
