// The meaning of each code of Toss Payments, decided by the code and never by the HTTP status. The lists of definite
// refusals are closed: a code that is not listed is unknown, and unknown is looked up. Messages of the gateway are not
// read; they may change without notice.

/**
 * refused               a definite no; nothing was or will be done for this request
 * refused-unless-done   a no, or the effect of an earlier success whose answer was lost: look it up, else it is a no
 * done-if-found         claims that it was done before: look it up, and decide by the payment alone
 * ours                  our own credentials are wrong: nothing was done, and the customer is not at fault
 * later                 no decision yet
 */
export type CodeClass = 'refused' | 'refused-unless-done' | 'done-if-found' | 'ours' | 'later'

const common = {
  UNAUTHORIZED_KEY: 'ours',
  INVALID_API_KEY: 'ours',
  INCORRECT_BASIC_AUTH_FORMAT: 'ours',
  FORBIDDEN_REQUEST: 'refused-unless-done',
  IDEMPOTENT_REQUEST_PROCESSING: 'later',
  FORBIDDEN_CONSECUTIVE_REQUEST: 'later',
  PROVIDER_ERROR: 'later',
  COMMON_ERROR: 'later',
  FAILED_INTERNAL_SYSTEM_PROCESSING: 'later',
  FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING: 'later',
} as const satisfies Record<string, CodeClass>

export const confirmCodes: ReadonlyMap<string, CodeClass> = new Map<string, CodeClass>(
  Object.entries({
    ...common,
    ALREADY_PROCESSED_PAYMENT: 'done-if-found',
    CARD_PROCESSING_ERROR: 'later',
    UNKNOWN_PAYMENT_ERROR: 'later',
    // in the answer to the confirm itself: the checkout session has expired or never existed
    NOT_FOUND_PAYMENT: 'refused',
    NOT_FOUND_PAYMENT_SESSION: 'refused',
    // the request
    INVALID_REQUEST: 'refused',
    UNAPPROVED_ORDER_ID: 'refused',
    BELOW_MINIMUM_AMOUNT: 'refused',
    NOT_FOUND_TERMINAL_ID: 'refused',
    INVALID_UNREGISTERED_SUBMALL: 'refused',
    NOT_REGISTERED_BUSINESS: 'refused',
    NOT_AVAILABLE_PAYMENT: 'refused',
    // the card or account
    REJECT_CARD_COMPANY: 'refused',
    REJECT_CARD_PAYMENT: 'refused',
    REJECT_ACCOUNT_PAYMENT: 'refused',
    REJECT_TOSSPAY_INVALID_ACCOUNT: 'refused',
    INVALID_REJECT_CARD: 'refused',
    INVALID_STOPPED_CARD: 'refused',
    INVALID_CARD_LOST_OR_STOLEN: 'refused',
    INVALID_CARD_EXPIRATION: 'refused',
    INVALID_CARD_NUMBER: 'refused',
    INVALID_CARD_INSTALLMENT_PLAN: 'refused',
    INVALID_PASSWORD: 'refused',
    INVALID_AUTHORIZE_AUTH: 'refused',
    INVALID_ACCOUNT_INFO_RE_REGISTER: 'refused',
    RESTRICTED_TRANSFER_ACCOUNT: 'refused',
    NOT_AVAILABLE_BANK: 'refused',
    NOT_ALLOWED_POINT_USE: 'refused',
    NOT_SUPPORTED_INSTALLMENT_PLAN_CARD_OR_MERCHANT: 'refused',
    NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN: 'refused',
    // limits and fraud
    EXCEED_MAX_CARD_INSTALLMENT_PLAN: 'refused',
    EXCEED_MAX_DAILY_PAYMENT_COUNT: 'refused',
    EXCEED_MAX_PAYMENT_AMOUNT: 'refused',
    EXCEED_MAX_MONTHLY_PAYMENT_AMOUNT: 'refused',
    EXCEED_MAX_AMOUNT: 'refused',
    EXCEED_MAX_ONE_DAY_AMOUNT: 'refused',
    EXCEED_MAX_ONE_DAY_WITHDRAW_AMOUNT: 'refused',
    EXCEED_MAX_ONE_TIME_WITHDRAW_AMOUNT: 'refused',
    EXCEED_MAX_AUTH_COUNT: 'refused',
    FDS_ERROR: 'refused',
  }),
)

export const cancelCodes: ReadonlyMap<string, CodeClass> = new Map<string, CodeClass>(
  Object.entries({
    ...common,
    ALREADY_CANCELED_PAYMENT: 'done-if-found',
    ALREADY_REFUND_PAYMENT: 'done-if-found',
    // returned instead of ALREADY_CANCELED_PAYMENT when a payment was cancelled part by part and nothing is left
    NOT_CANCELABLE_AMOUNT: 'refused-unless-done',
    // returned for a cancelled payment, too
    NOT_CANCELABLE_PAYMENT: 'refused-unless-done',
    // the balance is not the expected one: another cancel came first, which may be our own; a lookup that does not show one
    // is behind
    NOT_MATCHES_REFUNDABLE_AMOUNT: 'done-if-found',
    NOT_CANCELABLE_PAYMENT_FOR_DORMANT_USER: 'refused',
    NOT_ALLOWED_PARTIAL_REFUND: 'refused',
    NOT_ALLOWED_PARTIAL_REFUND_WAITING_DEPOSIT: 'refused',
    NOT_AVAILABLE_BANK: 'refused',
    REFUND_REJECTED: 'refused',
    INVALID_REQUEST: 'refused',
    INVALID_BANK: 'refused',
    INVALID_REFUND_ACCOUNT_INFO: 'refused',
    INVALID_REFUND_ACCOUNT_NUMBER: 'refused',
    FORBIDDEN_BANK_REFUND_REQUEST: 'refused',
    EXCEED_CANCEL_AMOUNT_DISCOUNT_AMOUNT: 'refused',
    EXCEED_CANCEL_LIMIT: 'refused',
    EXCEED_MAX_REFUND_DUE: 'refused',
    FAILED_REFUND_PROCESS: 'later',
    FAILED_METHOD_HANDLING_CANCEL: 'later',
    FAILED_PARTIAL_REFUND: 'later',
  }),
)
