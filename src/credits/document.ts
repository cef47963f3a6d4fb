// The endpoints of the internal API for the API document, beyond their schemas: texts, examples, and the refusals of each in
// the order in which they are checked. All texts here are part of openapi.json.
import { refuse } from '../core/errors.ts'
import { type Documented, missing, notAllowed, type Refused, refused } from '../http/documented.ts'
import { success } from '../http/envelope.ts'
import {
  customerNotFound,
  holdRefusals,
  insufficientCredits,
  referenceRefusals,
  restrictionRefusals,
  statementRefusals,
} from './refusals.ts'
import { CreditsToMove, CustomerId, ExpiresInSeconds, Limit } from './schemas.ts'

const customerId = '5509d75f-dfe0-4984-9be9-f02d7cdb5de6'
const holdId = '0a4b7c1e-53f2-4f0e-9a61-7d2c8e5b9f10'
const reference = 'analyses/2026-11-15/4711'
const released = { state: 'RELEASED', captured: null, credits: 5 } as const
const captured = { state: 'CAPTURED', captured: 3, credits: 5 } as const

const tooLittle: Refused = refused(
  'the customer has too little; nothing was done, and the reference can be used again',
  insufficientCredits(5, 3),
)
const overBudget: Refused = refused(
  'a budget has too little left until it renews; nothing was done, and the reference can be used again',
  restrictionRefusals.budgetExceeded(5, 27, {
    budgetId: '3f0c8a52-9d1e-4b67-8c34-6a1f5e2d7b90',
    scope: 'KEY',
    value: 'key-17',
    period: 'DAY',
    credits: 100,
    left: 2,
    renewsAt: '2026-11-15T15:00:00.000Z',
  }),
)
const suspended: Refused = refused('the customer is suspended', restrictionRefusals.customerSuspended())
const busy: Refused = refused(
  'the service is busy, or it is not known whether it happened: repeat the request, nothing is done twice',
  refuse('SVC001'),
)
const noCustomer: Refused = refused('there is no such customer', customerNotFound())
const noHold: Refused = refused('there is no such hold of this customer', holdRefusals.holdNotFound())

export const documentedCredits = {
  spend: {
    operationId: 'spendCredits',
    tag: 'Credits',
    summary: 'Spend credits',
    description:
      'Takes credits from a customer. Idempotent by `reference` within the customer: a repeat with the same credits ' +
      'gets the first answer, and is spent once. `balance` is what the customer can spend afterwards. `keyId` and `userId` ' +
      'are labels of the caller: budgets of keys and users count by them.',
    body: { customerId, credits: 5, reference, keyId: 'key-17', userId: 'user-4711' },
    answers: { 200: success({ reference, credits: 5, balance: 27 }, 'The credits are spent.') },
    refusals: [
      missing('reference'),
      notAllowed('credits', CreditsToMove),
      noCustomer,
      refused('the reference was used with other credits', referenceRefusals.spentOtherCredits(7)),
      refused('the reference was used for a hold', referenceRefusals.usedForHold()),
      suspended,
      overBudget,
      tooLittle,
      busy,
    ],
  },
  hold: {
    operationId: 'holdCredits',
    tag: 'Credits',
    summary: 'Hold credits',
    description:
      'For work whose price is known at its end: held credits cannot be spent otherwise. A hold ends by capture, by ' +
      'release, or expires after `expiresInSeconds` (3600 when omitted). Idempotent by `reference` within the customer.',
    body: { customerId, credits: 5, reference, expiresInSeconds: 600 },
    answers: {
      201: success(
        { holdId, credits: 5, expiresAt: '2026-11-15T11:15:45.863Z', balance: 27 },
        'The credits are set aside.',
      ),
    },
    refusals: [
      missing('reference'),
      notAllowed('expiresInSeconds', ExpiresInSeconds),
      noCustomer,
      refused('the reference was used with other credits', referenceRefusals.heldOtherCredits(7)),
      refused('the reference was used to spend', referenceRefusals.usedToSpend()),
      suspended,
      overBudget,
      tooLittle,
      busy,
    ],
  },
  capture: {
    operationId: 'captureHold',
    tag: 'Credits',
    summary: 'Capture a hold',
    description:
      'Spends the held credits: all of them, or `credits` of them, and releases the rest. A repeat gets the first answer. ' +
      'A hold ends once: any later request for another end is refused, with the state of the hold.',
    body: { customerId, credits: 3 },
    answers: { 200: success({ holdId, captured: 3, released: 2, balance: 29 }, 'The hold is captured.') },
    refusals: [
      missing('customerId'),
      notAllowed('credits', CreditsToMove),
      noHold,
      refused('more than was held', holdRefusals.moreThanHeld(released)),
      refused('the hold has ended otherwise', holdRefusals.endedOtherwise(released)),
      busy,
    ],
  },
  release: {
    operationId: 'releaseHold',
    tag: 'Credits',
    summary: 'Release a hold',
    description: 'Releases all held credits. A repeat gets the first answer.',
    body: { customerId },
    answers: { 200: success({ holdId, captured: 0, released: 5, balance: 32 }, 'The hold is released.') },
    refusals: [
      missing('customerId'),
      notAllowed('customerId', CustomerId),
      noHold,
      refused('the hold has ended otherwise', holdRefusals.endedOtherwise(captured)),
      busy,
    ],
  },
  budgets: {
    operationId: 'getBudgets',
    tag: 'Credits',
    summary: 'Get the budgets of a customer',
    description:
      'How many credits may be spent in an hour, a day or a month of Korean time, and what is used of that now. Operators ' +
      'set budgets; one over all customers together is not listed.',
    answers: {
      200: success(
        {
          customerId,
          budgets: [
            {
              budgetId: '3f0c8a52-9d1e-4b67-8c34-6a1f5e2d7b90',
              scope: 'KEY',
              value: null,
              period: 'DAY',
              credits: 100,
              warnAt: 80,
              renewsAt: '2026-11-15T15:00:00.000Z',
              uses: [{ value: 'key-17', used: 98, left: 2 }],
            },
          ],
        },
        'The budgets of the customer.',
      ),
    },
    refusals: [noCustomer],
  },
  statement: {
    operationId: 'getStatement',
    tag: 'Credits',
    summary: 'Get the statement of a customer',
    description:
      'Every movement of credits with its cause, newest first, page by page. `from` and `to` are both included; ' +
      '`opening` and `closing` are the balances before and after them. `nextCursor` is the cursor of the next page; it ' +
      'is null at the end. A page has 100 entries unless `limit` is set. It can be short, or empty, before the last one.',
    answers: {
      200: success(
        {
          customerId,
          balance: { balance: 32, held: 5, available: 27 },
          setAside: [
            {
              by: 'HOLD',
              holdId,
              credits: 5,
              reference,
              orderId: null,
              service: 'analyses',
              expiresAt: '2026-11-15T11:15:45.863Z',
            },
          ],
          opening: { balance: 32, held: 0, available: 32 },
          closing: { balance: 32, held: 5, available: 27 },
          entries: [
            {
              entryNumber: 3,
              kind: 'HOLD',
              delta: 0,
              heldDelta: 5,
              balanceAfter: 32,
              heldAfter: 5,
              availableAfter: 27,
              orderId: null,
              reference,
              holdId,
              service: 'analyses',
              createdAt: '2026-11-15T11:05:45.863Z',
            },
          ],
          nextCursor: '3',
        },
        'The statement of the customer.',
      ),
    },
    refusals: [
      notAllowed('limit', Limit),
      refused('the time does not exist', statementRefusals.noSuchTime('from')),
      refused('it would end before it begins', statementRefusals.endsBeforeItBegins()),
      noCustomer,
    ],
  },
} satisfies Record<string, Documented>
