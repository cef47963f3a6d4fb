// The parts of the API document about all endpoints: title, description, tags.
import type { ErrorCode } from '../core/errors.ts'

export const tags = [
  { name: 'Payments', description: 'For customers: buy credits, read balance, orders and statement, cancel.' },
  {
    name: 'Credits',
    description: 'For services of the platform: spend and hold credits, read the statement of a customer.',
  },
  { name: 'Operation', description: 'For the operation of the service: health and metrics.' },
  { name: 'Events', description: 'Events that the service sends to the endpoints of the platform.' },
] as const

/** The `info` of a document with these codes. BUS002 is about spending, which is not for customers. */
export function infoOf(codes: ReadonlySet<ErrorCode>) {
  return { ...info, description: descriptionOf(codes.has('BUS002')) }
}

const info = {
  title: 'Prepaid Credits API',
  summary: 'Sells and keeps prepaid credits.',
  license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
} as const

const descriptionOf = (hasSpending: boolean) =>
  `The service sells prepaid credits to the customer of an API key and keeps the balance. All amounts are in KRW.

1. Purchase a package: the answer has the data for the checkout of the gateway.
2. The buyer pays there, and the gateway issues a \`paymentKey\`.
3. Confirm the payment with \`orderId\`, \`paymentKey\` and \`amount\`: the credits are added.

**The envelope.** Every answer to a caller is a JSON object of five fields: \`success\`, \`data\`, \`message\`, \`code\`, \`metadata\`. A success has the code SUCCESS and its payload in \`data\`. A refusal has \`data: null\`, one of the codes of this document with the status that belongs to it, and details to act on in \`metadata\`, or null.

**Precedence.** Where several refusals apply, the first of these is given: INVALID_API_KEY, AUTH001, AUTH003, SVC001 past a rate, NOT000 for an unknown route, ${hasSpending ? 'AUTH003 for a missing scope, ' : ''}SVC001 for a full line, VAL004, VAL001, VAL002, VAL003 of the request alone, SVC001 after a wait in the line, NOT000, VAL003 against what is there, PAYMENT_CANCEL_FAILED, ${hasSpending ? 'BUS002, ' : ''}SVC001, INT001. A request that is not HTTP, or whose head is too large, is VAL001 or VAL004 before the key is checked${hasSpending ? '; a Host that the internal API is not known by is VAL003 before it, too' : ''}.

**Requests.** Bodies are JSON objects in UTF-8, of at most 16 KiB unless the service is set up otherwise. Nothing is converted: \`"1000"\` is not a number. A field that is null counts as missing. Fields that are not specified are ignored. An unknown path or method is 404 NOT000; where the method alone is wrong, \`Allow\` lists the methods of the path.

**When in doubt, repeat.** SVC001 comes with \`Retry-After\`. A purchase with an \`X-Idempotency-Key\`, ${hasSpending ? 'a confirm, a cancel, and everything with a `reference`' : 'a confirm and a cancel'} can be repeated: nothing is done twice.`
