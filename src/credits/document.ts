// The endpoints of the internal API, and the customer's own statement, for the API document, beyond their schemas: texts, examples, and the refusals of each in
// the order in which they are checked. All texts here are part of openapi.json.
import { dayRefusals } from '../core/day-span.ts'
import { refuse } from '../core/errors.ts'
import { type Documented, missing, notAllowed, type Refused, refused } from '../http/documented.ts'
import { success } from '../http/envelope.ts'
import { Limit } from '../http/input/page.ts'
import {
  captureRefusals,
  customerNotFound,
  holdRefusals,
  insufficientCredits,
  referenceRefusals,
  restrictionRefusals,
  reversalRefusals,
  statementRefusals,
} from './refusals.ts'
import { CreditsToMove, CustomerId, ExpiresInSeconds, Reason, Reference, UseBy } from './schemas.ts'
import { mostUseDays } from './use/use.ts'

const customerId = '5509d75f-dfe0-4984-9be9-f02d7cdb5de6'
const holdId = '0a4b7c1e-53f2-4f0e-9a61-7d2c8e5b9f10'
const reference = 'analyses/2026-11-15/4711'
const released = { state: 'RELEASED', captured: null, credits: 5, capturedInParts: 0 } as const
const captured = { state: 'CAPTURED', captured: 3, credits: 5, capturedInParts: 0 } as const
const releasedAfterPart = { state: 'RELEASED', captured: null, credits: 3, capturedInParts: 2 } as const

const lot = {
  entryNumber: 1,
  orderId: 'ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C',
  packageType: 'PRO',
  status: 'CONFIRMED',
  grantedAt: '2026-11-15T11:05:45.863Z',
  amount: 100_000,
  credits: 110,
  used: 78,
  held: 5,
  unused: 27,
  takenBack: 0,
  value: 22_000,
  refundedAmount: null,
} as const

const tooLittle: Refused = refused(
  'the customer has too little; nothing was done, and the reference can be used again',
  insufficientCredits(5, 3),
)
const ofDay = {
  budgetId: '3f0c8a52-9d1e-4b67-8c34-6a1f5e2d7b90',
  period: 'DAY',
  credits: 100,
  left: 2,
  renewsAt: '2026-11-15T15:00:00.000Z',
} as const
const overBudget: Refused = refused(
  'a budget has too little left until it renews; nothing was done, and the reference can be used again',
  restrictionRefusals.budgetExceeded(5, 27, { ...ofDay, scope: 'KEY', value: 'key-17' }),
)
const overBudgetOfService: Refused = refused(
  'another service holds it, and a budget of the service that captures has too little left; nothing was done',
  restrictionRefusals.budgetExceeded(3, 27, { ...ofDay, scope: 'SERVICE', value: 'clean-up' }),
)
const tooManyLabels: Refused = refused(
  'the label is new, and the customer has as many as there can be',
  restrictionRefusals.tooManyLabels(),
)
const suspended: Refused = refused('the customer is suspended', restrictionRefusals.customerSuspended())
const busy: Refused = refused(
  'the service is busy, or it is not known whether it happened: repeat the request, nothing is done twice',
  refuse('SVC001'),
)
const noCustomer: Refused = refused('there is no such customer', customerNotFound())
const noHold: Refused = refused(
  'the service has no such hold of this customer, and the token lacks the scope manage-holds or there is none at all',
  holdRefusals.holdNotFound(),
)

const pagesOfStatement =
  'Every movement of credits with its cause, newest first, page by page. `from` and `to` are both included; ' +
  '`opening` and `closing` are the balances before and after them. `nextCursor` is the cursor of the next page; it ' +
  'is null at the end. A page has 100 entries unless `limit` is set. It can be short, or empty, before the last one.'
const statementRefused: readonly Refused[] = [
  notAllowed('limit', Limit),
  refused('the time does not exist', statementRefusals.noSuchTime('from')),
  refused('it would end before it begins', statementRefusals.endsBeforeItBegins()),
]
const statementAnswer = {
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
      lots: [lot],
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
          keyId: 'key-17',
          userId: null,
          label: 'summary',
          units: 1_250,
          paidWith: null,
          createdAt: '2026-11-15T11:05:45.863Z',
        },
      ],
      nextCursor: '3',
    },
    'The statement of the customer.',
  ),
}

export const documentedCredits = {
  spend: {
    operationId: 'spendCredits',
    tag: 'Credits',
    summary: 'Spend credits',
    description:
      'Takes credits from a customer. Idempotent by `reference` within the customer: a repeat with the same credits ' +
      'gets the first answer, and is spent once. `balance` is what the customer can spend afterwards. `keyId`, `userId`, ' +
      '`label` and `units` say what it is for, in words of the caller: budgets of keys and users count by them, and ' +
      '`getUse` adds up by them. With `dryRun` the answer, or the refusal, is that of the request now, and nothing is changed.',
    body: { customerId, credits: 5, reference, keyId: 'key-17', userId: 'user-4711', label: 'summary', units: 1_250 },
    answers: { 200: success({ reference, credits: 5, balance: 27 }, 'The credits are spent.') },
    refusals: [
      missing('reference'),
      notAllowed('credits', CreditsToMove),
      noCustomer,
      refused('the reference was used with other credits', referenceRefusals.spentOtherCredits(7)),
      refused('the reference was used for a hold', referenceRefusals.usedFor('HOLD')),
      refused('the reference was used for a part of a hold', referenceRefusals.usedFor('CAPTURE')),
      refused('the reference was used for a reversal', referenceRefusals.usedFor('REVERSAL')),
      suspended,
      tooManyLabels,
      overBudget,
      tooLittle,
      busy,
    ],
  },
  reverse: {
    operationId: 'reverseSpend',
    tag: 'Credits',
    summary: 'Reverse a spend',
    description:
      'Gives credits back that the service has spent, or captured from a hold: all that is left, or `credits` of them; in ' +
      'all never more than was spent. Only the service that spent can do it, with any of its tokens. Idempotent by the ' +
      'own `reference` of the reversal. Credits that were given back cannot be refunded as money.',
    body: { customerId, credits: 2, reference: `${reference}/reversal`, reason: 'The analysis failed.' },
    answers: {
      200: success({ reference: `${reference}/reversal`, credits: 2, balance: 29 }, 'The credits are given back.'),
    },
    refusals: [
      missing('reason'),
      notAllowed('reason', Reason),
      refused('the service has no such spend or hold of this customer', reversalRefusals.spendNotFound()),
      refused('more than is left of it', reversalRefusals.moreThanLeft(3)),
      refused('the reference was used with other credits', referenceRefusals.reversedOtherCredits(7)),
      refused('the reference was used to reverse another spend', referenceRefusals.reversedOtherSpend()),
      refused('the reference was used to spend', referenceRefusals.usedFor('SPEND')),
      refused('the reference was used for a hold', referenceRefusals.usedFor('HOLD')),
      refused('the reference was used for a part of a hold', referenceRefusals.usedFor('CAPTURE')),
      busy,
    ],
  },
  hold: {
    operationId: 'holdCredits',
    tag: 'Credits',
    summary: 'Hold credits',
    description:
      'For work whose price is known at its end: held credits cannot be spent otherwise. A hold ends by capture, by ' +
      'release, or expires after `expiresInSeconds` (3600 when omitted). Idempotent by `reference` within the customer. ' +
      'With `atMost` it holds what is available, up to `credits`: the answer has how many, and a repeat gets the same ' +
      'answer. With `dryRun` the answer is 200 with what would be held now, or the refusal, and nothing is changed.',
    body: { customerId, credits: 5, reference, expiresInSeconds: 600 },
    answers: {
      200: success({ holdId: null, credits: 5, expiresAt: null, balance: 27 }, 'The credits would be set aside.'),
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
      refused('the reference was used for at most other credits', referenceRefusals.heldAtMost(7)),
      refused('the reference was used to spend', referenceRefusals.usedFor('SPEND')),
      refused('the reference was used for a part of a hold', referenceRefusals.usedFor('CAPTURE')),
      refused('the reference was used for a reversal', referenceRefusals.usedFor('REVERSAL')),
      suspended,
      tooManyLabels,
      overBudget,
      tooLittle,
      busy,
    ],
  },
  extend: {
    operationId: 'extendHold',
    tag: 'Credits',
    summary: 'Extend a hold',
    description:
      'Moves the end of an active hold to `expiresInSeconds` from now. An end that is later already stays: a repeat is ' +
      'harmless. A hold may be extended any number of times. `credits` of the answer is what it still holds. Holds of other ' +
      'services need the scope `manage-holds`.',
    body: { customerId, expiresInSeconds: 3600 },
    answers: {
      200: success({ holdId, credits: 5, expiresAt: '2026-11-15T12:10:45.863Z', balance: 27 }, 'The hold is extended.'),
    },
    refusals: [
      missing('expiresInSeconds'),
      notAllowed('expiresInSeconds', ExpiresInSeconds),
      noHold,
      refused('the hold has ended, or its time is over', holdRefusals.endedOtherwise(released)),
      busy,
    ],
  },
  capture: {
    operationId: 'captureHold',
    tag: 'Credits',
    summary: 'Capture a hold',
    description:
      'Spends the held credits: all of them, or `credits` of them, and releases the rest. A repeat gets the first answer. ' +
      'A hold ends once: any later request for another end is refused, with the state of the hold. With `final: false` ' +
      'it captures a part: `credits` of the held credits, and the hold stays active. A part needs a `reference` of its ' +
      'own, by which it is idempotent; the answer has what remains. The part that takes the last credits ends the hold. ' +
      'Holds of other services need the scope `manage-holds`; such a capture counts in the budgets of the calling service.',
    body: { customerId, credits: 3 },
    answers: { 200: success({ holdId, captured: 3, released: 2, balance: 29 }, 'The hold is captured.') },
    refusals: [
      missing('customerId'),
      notAllowed('credits', CreditsToMove),
      notAllowed('reference', Reference),
      refused('a part without its reference', captureRefusals.fieldsMissing(['reference'])),
      refused('a final capture with a reference', captureRefusals.referenceOfFinal()),
      refused('the reference was used for a part of other credits', referenceRefusals.capturedOtherCredits(2)),
      refused('the reference was used for a part of another hold', referenceRefusals.usedForOtherHold()),
      refused('the reference was used for a hold', referenceRefusals.usedFor('HOLD')),
      refused('the reference was used to spend', referenceRefusals.usedFor('SPEND')),
      noHold,
      refused('more than is held', holdRefusals.moreThanHeld(released)),
      refused('the hold has ended otherwise', holdRefusals.endedOtherwise(released)),
      refused('the hold has ended otherwise after a part', holdRefusals.endedOtherwise(releasedAfterPart)),
      overBudgetOfService,
      busy,
    ],
  },
  release: {
    operationId: 'releaseHold',
    tag: 'Credits',
    summary: 'Release a hold',
    description:
      'Releases all held credits. A repeat gets the first answer. Holds of other services need the scope `manage-holds`.',
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
    description: pagesOfStatement,
    answers: statementAnswer,
    refusals: [...statementRefused, noCustomer],
  },
  ownStatement: {
    operationId: 'getOwnStatement',
    tag: 'Payments',
    summary: 'Get the statement',
    description: pagesOfStatement,
    answers: statementAnswer,
    refusals: statementRefused,
  },
  use: {
    operationId: 'getUse',
    tag: 'Credits',
    summary: 'Get the use of a customer by day',
    description:
      'What was used of the credits by day in Korea, and by service, `keyId`, `userId` or `label` of the spend or hold: spent ' +
      'and captured, less what was given back, on the day on which it moved. `from` and `to` are days, both included, at ' +
      'most 92; without them the last 31 days. `units` are those of the spend, or of the hold with its first capture.',
    answers: {
      200: success(
        {
          customerId,
          by: 'label',
          from: '2026-11-15',
          to: '2026-11-16',
          rows: [
            { day: '2026-11-15', value: 'summary', credits: 12, units: 3_100, count: 3 },
            { day: '2026-11-15', value: null, credits: 5, units: 0, count: 1 },
            { day: '2026-11-16', value: 'summary', credits: -2, units: 0, count: 0 },
          ],
          sums: [
            { value: 'summary', credits: 10, units: 3_100, count: 3 },
            { value: null, credits: 5, units: 0, count: 1 },
          ],
          others: null,
          total: { credits: 15, units: 3_100, count: 4 },
        },
        'The use of the customer.',
      ),
    },
    refusals: [
      notAllowed('by', UseBy),
      refused('the day does not exist', dayRefusals.noSuchDay('from')),
      refused('the day is before the books, or in the future', dayRefusals.outside('to', '2026-11-16')),
      refused('it would end before it begins', dayRefusals.endsBeforeItBegins()),
      refused('there are too many days', dayRefusals.tooLong(mostUseDays)),
      noCustomer,
    ],
  },
  lots: {
    operationId: 'listLots',
    tag: 'Credits',
    summary: 'List the lots of a customer',
    description:
      'What is left of each order, newest first, page by page. Credits are used first in, first out; within an order base ' +
      'credits before bonus credits. A base credit is worth 1,000 KRW, a bonus credit nothing: `value` is what a refund of ' +
      'the unused part would return. `nextCursor` is null at the end. A page has 100 lots unless `limit` is set.',
    answers: { 200: success({ customerId, lots: [lot], adjusted: 0, nextCursor: null }, 'The lots of the customer.') },
    refusals: [notAllowed('limit', Limit), noCustomer],
  },
} satisfies Record<string, Documented>
