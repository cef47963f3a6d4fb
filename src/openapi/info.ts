// The parts of the API document about all endpoints: title, description, tags.

export const tags = [
  { name: 'Payments', description: 'For customers: buy credits, read balance and status, cancel.' },
  {
    name: 'Credits',
    description: 'For services of the platform: spend credits, set them aside, read why a balance is what it is.',
  },
  { name: 'Operation', description: 'For whoever runs the service.' },
  { name: 'Events', description: 'What the service tells the endpoints of the platform.' },
] as const

export const info = {
  title: 'Prepaid Credits API',
  summary: 'Sells and keeps prepaid credits.',
  description: `The service sells prepaid credits to the holder of an API key and keeps what they can spend. All amounts are in KRW.

1. Purchase a package: the answer has what the checkout of the gateway needs.
2. The buyer pays there, and the gateway gives a \`paymentKey\`.
3. Confirm the payment with \`orderId\`, \`paymentKey\` and \`amount\`: the credits are added.

**The envelope.** Every answer of the two APIs is a JSON object of five fields: \`success\`, \`data\`, \`message\`, \`code\`, \`metadata\`. A success has the code SUCCESS and its payload in \`data\`. A refusal has \`data: null\`, one of the codes of this document with the status that belongs to it, and in \`metadata\` what the caller needs to act on it, or null.

**Precedence.** Where several refusals apply, the first of these is given: INVALID_API_KEY, AUTH001, AUTH003, SVC001 past a rate, NOT000 for an unknown route, VAL004, VAL001, VAL002, VAL003 of the request alone, NOT000, VAL003 against what is there, PAYMENT_CANCEL_FAILED, BUS002, SVC001, INT001. A request that is not HTTP, or whose head is too large, is VAL001 or VAL004 before anybody is known.

**Requests.** Bodies are JSON objects in UTF-8, of at most 16 KiB unless the service is set up otherwise. Nothing is converted: \`"1000"\` is not a number. A field that is null counts as missing. Fields that are not specified are ignored. An unknown path or method is 404 NOT000; where the method alone is wrong, \`Allow\` names those there are.

**When in doubt, repeat.** SVC001 comes with \`Retry-After\`. A purchase with an \`X-Idempotency-Key\`, a confirm, a cancel, and everything with a \`reference\` can be repeated: nothing is done twice.`,
  license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
} as const
