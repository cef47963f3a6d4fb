// The request with which the browser script opens the window, and the SDK's error code for each mistake. The script
// checks nothing of this itself: the rules are in one place, and no page can bypass them.

import type { Language } from './texts.ts'

export type CheckoutRequest = {
  product: 'payment' | 'widgets'
  customerKey: string | null
  orderId: string
  orderName: string
  amount: number
  successUrl: string
  failUrl: string
  /** The language of the page that opens the window; null: it is not one of ours. */
  language: Language | null
}

type Rule = { code: string; message: string; holds(request: Fields, clientKey: string): boolean }
type Fields = Record<string, unknown> & { amount: Record<string, unknown> }

const orderIdPattern = /^[A-Za-z0-9_=-]{6,64}$/
const customerKeyPattern = /^[A-Za-z0-9\-_=.@]{2,50}$/
const urlMaxLength = 2_000

const absent = (value: unknown) => value === undefined || value === null || value === ''

/** In order; the first that does not hold is the answer. */
const rules: Rule[] = [
  {
    code: 'INVALID_CLIENT_KEY',
    message: 'The client key is not the one of this sandbox.',
    holds: (request, clientKey) => request.clientKey === clientKey,
  },
  {
    code: 'INVALID_PARAMETERS',
    message: 'product: expected payment or widgets.',
    holds: ({ product }) => product === 'payment' || product === 'widgets',
  },
  {
    code: 'INVALID_CUSTOMER_KEY',
    message: 'customerKey: expected 2 to 50 characters out of A-Z a-z 0-9 - _ = . @',
    holds: ({ customerKey }) => absent(customerKey) || matches(customerKey, customerKeyPattern),
  },
  {
    code: 'NOT_SUPPORTED_METHOD',
    message: 'method: the sandbox takes CARD only.',
    holds: ({ product, method }) => product === 'widgets' || method === 'CARD',
  },
  {
    code: 'INVALID_PARAMETERS',
    message: 'orderId: expected 6 to 64 characters out of A-Z a-z 0-9 _ - =',
    holds: ({ orderId }) => matches(orderId, orderIdPattern),
  },
  {
    code: 'INVALID_PARAMETERS',
    message: 'orderName: expected 1 to 100 characters.',
    holds: ({ orderName }) => typeof orderName === 'string' && orderName.trim() !== '' && orderName.length <= 100,
  },
  {
    code: 'INVALID_AMOUNT_CURRENCY',
    message: 'amount.currency: expected KRW.',
    holds: ({ amount }) => amount.currency === 'KRW',
  },
  {
    code: 'INVALID_AMOUNT_VALUE',
    message: 'amount.value: expected a whole number.',
    holds: ({ amount }) => Number.isSafeInteger(amount.value),
  },
  {
    code: 'BELOW_ZERO_AMOUNT',
    message: 'amount.value: expected more than 0.',
    holds: ({ amount }) => Number(amount.value) > 0,
  },
  {
    code: 'BELOW_MINIMUM_AMOUNT',
    message: 'amount.value: by card at least 100.',
    holds: ({ amount }) => Number(amount.value) >= 100,
  },
  {
    code: 'NOT_SUPPORTED_PROMISE',
    message: 'Without successUrl and failUrl the result would come as a promise: the sandbox redirects only.',
    holds: ({ successUrl, failUrl }) => !(absent(successUrl) && absent(failUrl)),
  },
  {
    code: 'INCORRECT_SUCCESS_URL_FORMAT',
    message: 'successUrl: expected an absolute http or https URL.',
    holds: ({ successUrl }) => isWebAddress(successUrl),
  },
  {
    code: 'INCORRECT_FAIL_URL_FORMAT',
    message: 'failUrl: expected an absolute http or https URL.',
    holds: ({ failUrl }) => isWebAddress(failUrl),
  },
]

export type Refusal = { code: string; message: string }

export function readCheckoutRequest(body: unknown, clientKey: string): CheckoutRequest | Refusal {
  const fields = isObject(body) ? body : {}
  const request: Fields = { ...fields, amount: isObject(fields.amount) ? fields.amount : {} }
  const broken = rules.find((rule) => !rule.holds(request, clientKey))
  if (broken) return { code: broken.code, message: broken.message }
  const { product, customerKey, orderId, orderName, successUrl, failUrl } = request as unknown as CheckoutRequest
  const amount = Number(request.amount.value)
  const language = languageIn(request.language)
  return { product, customerKey: customerKey || null, orderId, orderName, amount, successUrl, failUrl, language }
}

/** The `lang` of a page may have a region: ko-KR. */
function languageIn(value: unknown): Language | null {
  const [, language] = /^(ko|en)\b/i.exec(String(value)) ?? []
  return (language?.toLowerCase() as Language | undefined) ?? null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

function isWebAddress(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > urlMaxLength || !/^https?:\/\//i.test(value)) return false
  return URL.canParse(value)
}
