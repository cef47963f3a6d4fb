// The error codes of the Toss protocol the sandbox can answer with: everything it refuses by itself, plus the whole
// tables of confirm, cancel and lookup and the general ones, so that any can be requested by name (test-code.ts). A
// code has one HTTP status. The messages are ours, in English; Toss words them in Korean and changes them at will, so
// no client may match them.

export const errorCodes = {
  // Authentication, routing, idempotency
  UNAUTHORIZED_KEY: { status: 401, message: 'The secret key is missing or not recognised.' },
  INCORRECT_BASIC_AUTH_FORMAT: { status: 403, message: 'Basic authentication needs "secretKey:", colon included.' },
  INVALID_API_KEY: { status: 400, message: 'The client key and the secret key do not belong together.' },
  API_VERSION_UPDATE_NEEDED: { status: 400, message: 'The API version of the key is too old for this.' },
  INVALID_TEST_CODE: { status: 400, message: 'TossPayments-Test-Code names no error code.' },
  NOT_FOUND: { status: 404, message: 'There is no such address.' },
  NOT_FOUND_HTTP_METHOD: { status: 404, message: 'The address does not take this method.' },
  NOT_FOUND_MERCHANT: { status: 404, message: 'There is no such merchant.' },
  INVALID_IDEMPOTENCY_KEY: { status: 400, message: 'Idempotency-Key is longer than 300 characters.' },
  IDEMPOTENT_REQUEST_PROCESSING: { status: 409, message: 'The first request with this key is still being processed.' },
  // The status is documented, a code for it is not: this one is ours, and no client may match it.
  TOO_MANY_REQUESTS: { status: 429, message: 'There are too many requests.' },

  // Anywhere
  DUPLICATED_REQUEST: { status: 400, message: 'The request came twice.' },
  DUPLICATED_ORDER_ID: { status: 400, message: 'The orderId was used before.' },
  INVALID_PAYMENT_KEY: { status: 400, message: 'The paymentKey is not valid.' },
  INVALID_ORDER_ID: { status: 400, message: 'orderId: 6 to 64 letters, digits, - or _.' },
  INVALID_ORDER_NAME: { status: 400, message: 'orderName: 1 to 100 characters.' },
  INVALID_REQUIRED_PARAM: { status: 400, message: 'A required parameter is missing.' },
  REQUIRED_AMOUNT: { status: 400, message: 'The amount is missing.' },
  BELOW_ZERO_AMOUNT: { status: 400, message: 'The amount has to be above 0.' },
  EXCEEDS_TRANSFER_AMOUNT_MAXIMUM: { status: 400, message: 'The limit of a single transfer is exceeded.' },
  ALREADY_COMPLETED_PAYMENT: { status: 400, message: 'The payment is already completed.' },
  MAINTAINED_METHOD: { status: 400, message: 'The payment method is under maintenance.' },
  FAILED_DB_PROCESSING: { status: 500, message: 'The database failed.' },
  FAILED_METHOD_HANDLING: { status: 500, message: 'The payment method failed.' },
  UNKNOWN_ERROR: { status: 500, message: 'An unknown error occurred.' },

  // Confirm and cancel
  INVALID_REQUEST: { status: 400, message: 'The request is not valid.' },
  FORBIDDEN_REQUEST: { status: 403, message: 'The request is not allowed.' },
  PROVIDER_ERROR: { status: 400, message: 'A temporary error occurred at the provider.' },
  NOT_AVAILABLE_BANK: { status: 403, message: 'The bank is outside its service hours.' },
  NOT_FOUND_PAYMENT: { status: 404, message: 'There is no such payment.' },
  COMMON_ERROR: { status: 500, message: 'A temporary error occurred.' },
  FAILED_INTERNAL_SYSTEM_PROCESSING: { status: 500, message: 'Internal processing failed.' },
  FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING: { status: 500, message: 'The payment system failed internally.' },

  // Confirm
  ALREADY_PROCESSED_PAYMENT: { status: 400, message: 'The payment has already been processed.' },
  NOT_FOUND_PAYMENT_SESSION: { status: 404, message: 'The payment session does not exist or has expired.' },
  REJECT_CARD_COMPANY: { status: 403, message: 'The card company refused the payment.' },
  REJECT_CARD_PAYMENT: { status: 403, message: 'The card limit is exceeded or the balance is insufficient.' },
  REJECT_ACCOUNT_PAYMENT: { status: 403, message: 'The account balance is insufficient.' },
  REJECT_TOSSPAY_INVALID_ACCOUNT: { status: 403, message: 'The account is not registered for withdrawals.' },
  CARD_PROCESSING_ERROR: { status: 400, message: 'An error occurred at the card company.' },
  EXCEED_MAX_CARD_INSTALLMENT_PLAN: { status: 400, message: 'Too many instalment months.' },
  NOT_ALLOWED_POINT_USE: { status: 400, message: 'Card points cannot be used with this card.' },
  INVALID_REJECT_CARD: { status: 400, message: 'The card refuses this use.' },
  BELOW_MINIMUM_AMOUNT: { status: 400, message: 'The amount is below the minimum: 100 by card, 200 by account.' },
  INVALID_CARD_EXPIRATION: { status: 400, message: 'The expiry date of the card is wrong.' },
  INVALID_STOPPED_CARD: { status: 400, message: 'The card is suspended.' },
  INVALID_CARD_LOST_OR_STOLEN: { status: 400, message: 'The card is reported lost or stolen.' },
  INVALID_CARD_NUMBER: { status: 400, message: 'The card number is wrong.' },
  INVALID_CARD_INSTALLMENT_PLAN: { status: 400, message: 'The instalment months are wrong.' },
  NOT_SUPPORTED_INSTALLMENT_PLAN_CARD_OR_MERCHANT: { status: 400, message: 'Card or merchant without instalments.' },
  NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN: { status: 400, message: 'The card does not support instalments.' },
  EXCEED_MAX_DAILY_PAYMENT_COUNT: { status: 400, message: 'Too many payments in a day.' },
  EXCEED_MAX_PAYMENT_AMOUNT: { status: 400, message: 'The daily payment limit is exceeded.' },
  EXCEED_MAX_MONTHLY_PAYMENT_AMOUNT: { status: 400, message: 'The monthly payment limit is exceeded.' },
  EXCEED_MAX_AMOUNT: { status: 400, message: 'The transaction limit is exceeded.' },
  EXCEED_MAX_ONE_DAY_WITHDRAW_AMOUNT: { status: 400, message: 'The daily withdrawal limit is exceeded.' },
  EXCEED_MAX_ONE_TIME_WITHDRAW_AMOUNT: { status: 400, message: 'The limit of a single withdrawal is exceeded.' },
  EXCEED_MAX_AUTH_COUNT: { status: 403, message: 'Too many authentication attempts.' },
  EXCEED_MAX_ONE_DAY_AMOUNT: { status: 403, message: 'The daily limit is exceeded.' },
  NOT_FOUND_TERMINAL_ID: { status: 400, message: 'The merchant has no terminal id.' },
  INVALID_AUTHORIZE_AUTH: { status: 400, message: 'The authentication is not valid.' },
  INVALID_PASSWORD: { status: 403, message: 'The password does not match.' },
  RESTRICTED_TRANSFER_ACCOUNT: { status: 400, message: 'The account can be used 12 hours after its registration.' },
  INVALID_UNREGISTERED_SUBMALL: { status: 400, message: 'The sub-mall is not registered.' },
  NOT_REGISTERED_BUSINESS: { status: 400, message: 'The business is not registered.' },
  INVALID_ACCOUNT_INFO_RE_REGISTER: { status: 400, message: 'The account has to be registered again.' },
  NOT_AVAILABLE_PAYMENT: { status: 400, message: 'Payments are outside their service hours.' },
  UNAPPROVED_ORDER_ID: { status: 400, message: 'The order has not been approved.' },
  FDS_ERROR: { status: 403, message: 'The payment was blocked as suspicious.' },
  UNKNOWN_PAYMENT_ERROR: { status: 500, message: 'The payment failed for an unknown reason.' },

  // Cancel
  ALREADY_CANCELED_PAYMENT: { status: 400, message: 'The payment is already cancelled.' },
  NOT_CANCELABLE_AMOUNT: { status: 403, message: 'The amount cannot be cancelled.' },
  NOT_CANCELABLE_PAYMENT: { status: 403, message: 'The payment cannot be cancelled.' },
  NOT_MATCHES_REFUNDABLE_AMOUNT: { status: 400, message: 'refundableAmount differs from the balance.' },
  NOT_CANCELABLE_PAYMENT_FOR_DORMANT_USER: { status: 403, message: 'The buyer is dormant.' },
  INVALID_REFUND_ACCOUNT_INFO: { status: 400, message: 'Account number and holder do not match.' },
  INVALID_REFUND_ACCOUNT_NUMBER: { status: 400, message: 'The refund account number is wrong.' },
  INVALID_BANK: { status: 400, message: 'The bank is not valid.' },
  EXCEED_CANCEL_AMOUNT_DISCOUNT_AMOUNT: { status: 400, message: 'The amount is below the instant discount.' },
  REFUND_REJECTED: { status: 400, message: 'The refund was refused.' },
  ALREADY_REFUND_PAYMENT: { status: 400, message: 'The payment is already refunded.' },
  FORBIDDEN_BANK_REFUND_REQUEST: { status: 400, message: 'The account cannot take refunds.' },
  FORBIDDEN_CONSECUTIVE_REQUEST: { status: 403, message: 'Requests follow each other too fast.' },
  EXCEED_MAX_REFUND_DUE: { status: 403, message: 'The time for a refund has passed.' },
  EXCEED_CANCEL_LIMIT: { status: 403, message: 'The cancellation limit is exceeded.' },
  NOT_ALLOWED_PARTIAL_REFUND_WAITING_DEPOSIT: { status: 403, message: 'No partial cancel before the deposit.' },
  NOT_ALLOWED_PARTIAL_REFUND: { status: 403, message: 'The payment cannot be cancelled in part.' },
  FAILED_REFUND_PROCESS: { status: 500, message: 'The bank failed to refund.' },
  FAILED_METHOD_HANDLING_CANCEL: { status: 500, message: 'The method failed while cancelling.' },
  FAILED_PARTIAL_REFUND: { status: 500, message: 'The partial refund failed.' },
  INVALID_REFUND_AMOUNT: { status: 400, message: 'The refund amount is wrong.' },
  ALREADY_REFUNDING_PAYMENT: { status: 400, message: 'The payment is being refunded.' },
  EXCEED_MAX_REFUND_AMOUNT: { status: 403, message: 'The refund limit is exceeded.' },
  NOT_SUPPORTED_REFUND: { status: 403, message: 'The payment cannot be refunded.' },
  NOT_ALLOWED_REFUND_BANK: { status: 403, message: 'The bank takes no refunds.' },

  // Lookup and transactions
  NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN_BELOW_AMOUNT: { status: 400, message: 'Too little for instalments.' },
  INVALID_DATE: { status: 400, message: 'The date is not valid.' },
  INVALID_ISO_DATE_FORMAT: { status: 400, message: 'The date is not in ISO 8601.' },
  EXCEED_MAX_QUERY_LIMIT: { status: 400, message: 'limit: at most 5000.' },
  INVALID_PAGING_KEY: { status: 400, message: 'The paging key is not valid.' },
  INVALID_TRANSACTION_KEY: { status: 400, message: 'startingAfter: there is no such transactionKey.' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorCodes

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code)
}

export type ErrorAnswer = { status: number; error: { code: ErrorCode; message: string } }

export function errorAnswer(code: ErrorCode, message: string = errorCodes[code].message): ErrorAnswer {
  return { status: errorCodes[code].status, error: { code, message } }
}
