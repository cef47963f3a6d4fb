// Why an order is FAILED, for its buyer. It is not stored: it follows from the order's failed confirm, which keeps the code of
// the gateway. Every code that can reject a confirm is listed here once; the buyer sees a reason and never a code.
import type { RefusalReason } from '../core/errors.ts'

export type FailureReason = Extract<
  RefusalReason,
  | 'insufficient-funds'
  | 'limit-exceeded'
  | 'card-declined'
  | 'card-expired'
  | 'payment-expired'
  | 'order-expired'
  | 'other'
>

/** The confirm that failed an order: rejected with a code, or in the place of one that did not come in time. */
export type FailedConfirm = { state: 'REJECTED' | 'EXPIRED'; gatewayCode: string | null }

const codes: Record<FailureReason, readonly string[]> = {
  // REJECT_CARD_PAYMENT: the limit or the balance of the card. Toss does not say which.
  'insufficient-funds': ['REJECT_ACCOUNT_PAYMENT', 'REJECT_CARD_PAYMENT'],
  'limit-exceeded': [
    'EXCEED_MAX_AMOUNT',
    'EXCEED_MAX_DAILY_PAYMENT_COUNT',
    'EXCEED_MAX_MONTHLY_PAYMENT_AMOUNT',
    'EXCEED_MAX_ONE_DAY_AMOUNT',
    'EXCEED_MAX_ONE_DAY_WITHDRAW_AMOUNT',
    'EXCEED_MAX_ONE_TIME_WITHDRAW_AMOUNT',
    'EXCEED_MAX_PAYMENT_AMOUNT',
  ],
  'card-declined': [
    'EXCEED_MAX_AUTH_COUNT',
    'EXCEED_MAX_CARD_INSTALLMENT_PLAN',
    'FDS_ERROR',
    'INVALID_ACCOUNT_INFO_RE_REGISTER',
    'INVALID_CARD_INSTALLMENT_PLAN',
    'INVALID_CARD_LOST_OR_STOLEN',
    'INVALID_CARD_NUMBER',
    'INVALID_PASSWORD',
    'INVALID_REJECT_CARD',
    'INVALID_STOPPED_CARD',
    'NOT_ALLOWED_POINT_USE',
    'NOT_SUPPORTED_INSTALLMENT_PLAN_CARD_OR_MERCHANT',
    'NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN',
    'REJECT_CARD_COMPANY',
    'REJECT_TOSSPAY_INVALID_ACCOUNT',
    'RESTRICTED_TRANSFER_ACCOUNT',
  ],
  'card-expired': ['INVALID_CARD_EXPIRATION'],
  // EXPIRED is the status of a payment that was looked up.
  'payment-expired': ['EXPIRED', 'NOT_FOUND_PAYMENT', 'NOT_FOUND_PAYMENT_SESSION'],
  'order-expired': [],
  other: [
    // our request, our contract, or a bank out of service
    'BELOW_MINIMUM_AMOUNT',
    'FORBIDDEN_REQUEST',
    'INVALID_AUTHORIZE_AUTH',
    'INVALID_REQUEST',
    'INVALID_UNREGISTERED_SUBMALL',
    'NOT_AVAILABLE_BANK',
    'NOT_AVAILABLE_PAYMENT',
    'NOT_FOUND_TERMINAL_ID',
    'NOT_REGISTERED_BUSINESS',
    'UNAPPROVED_ORDER_ID',
    // found by a lookup, or decided by us
    'ABANDONED',
    'ABORTED',
    'CANCELED',
    'PARTIAL_CANCELED',
    'PAYMENT_OF_ANOTHER_ORDER',
  ],
}

export const failureReasons = Object.keys(codes) as FailureReason[]

const reasonOfCode: ReadonlyMap<string, FailureReason> = new Map(
  failureReasons.flatMap((reason) => codes[reason].map((code) => [code, reason])),
)

export function failureOf({ state, gatewayCode }: FailedConfirm): FailureReason {
  return state === 'EXPIRED' ? 'order-expired' : (reasonOfCode.get(gatewayCode ?? '') ?? 'other')
}

/** The codes of rejected confirms with this reason; none for `order-expired`, which is the state EXPIRED. */
export function codesOf(reason: FailureReason): string[] {
  return [...codes[reason]]
}
