// The types of the API, taken from its document: nothing here is written twice. `npm run client-schema` writes
// `schema.ts`.
import type { components, operations } from './schema.ts'

type Schemas = components['schemas']

/** The endpoints, by the names that the document gives them. */
export type OperationId = keyof operations

type Responses<Id extends OperationId> = operations[Id]['responses']
type Content<Part> = Part extends { content: { 'application/json': infer Json } } ? Json : never
type Answers<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: Content<Responses<Id>[Status]>
}[keyof Responses<Id>]

/** The data of an operation's success. */
export type DataOf<Id extends OperationId> =
  Answers<Id> extends infer Answer ? (Answer extends { code: 'SUCCESS'; data: infer Data } ? Data : never) : never
/** The codes of an operation's refusals. */
export type CodeOf<Id extends OperationId> = Extract<Answers<Id>, Schemas['ErrorEnvelope']>['code']
export type MetadataOf<Code extends Schemas['ErrorEnvelope']['code']> = Schemas[Code]['metadata']

export type PackageType = Schemas['PackageType']
export type OrderStatus = Schemas['OrderStatus']
export type CreditPackage = Schemas['CreditPackage']
export type Purchase = Schemas['Purchase']
export type Confirmation = Schemas['Confirmation']
export type Cancellation = Schemas['Cancellation']
export type PaymentOrder = Schemas['PaymentOrder']
export type Balance = Schemas['Balance']
export type PurchaseRequest = Schemas['PurchaseRequest']
export type ConfirmRequest = Schemas['ConfirmRequest']
export type CancelRequest = Schemas['CancelRequest']

export type Budget = Schemas['Budget']
export type Budgets = Schemas['Budgets']
export type Spend = Schemas['Spend']
export type Hold = Schemas['Hold']
export type EndedHold = Schemas['EndedHold']
export type Statement = Schemas['Statement']
export type StatementEntry = Schemas['StatementEntry']
export type EntryKind = Schemas['EntryKind']
export type SpendRequest = Schemas['SpendRequest']
export type HoldRequest = Schemas['HoldRequest']
export type CaptureRequest = Schemas['CaptureRequest'] & { holdId: string }
export type ReleaseRequest = Schemas['ReleaseRequest'] & { holdId: string }

/** What the service sends to a webhook endpoint. `Event` is a global of browsers. */
export type CreditsEvent = Schemas['Event']
export type OrderConfirmedEvent = Schemas['OrderConfirmedEvent']
export type OrderFailedEvent = Schemas['OrderFailedEvent']
export type OrderCancelledEvent = Schemas['OrderCancelledEvent']
export type OrderRefundedEvent = Schemas['OrderRefundedEvent']
export type CreditsLowEvent = Schemas['CreditsLowEvent']
export type CreditsEmptyEvent = Schemas['CreditsEmptyEvent']
export type BudgetLowEvent = Schemas['BudgetLowEvent']
