// The six endpoints for the API document, beyond their schemas: texts, examples, and the refusals of each in the order in
// which they are checked. All texts here are part of openapi.json.
import { type Documented, missing, notAllowed, refused } from '../http/documented.ts'
import { refusalReasonHeader, success } from '../http/envelope.ts'
import { packageOf, packages, paymentMethod } from './packages.ts'
import { cancelRefusals, confirmRefusals, orderNotFound, outcomeUnknown, purchaseRefusals } from './refusals.ts'
import { Amount, CancelReason, FailureReasonName, IdempotencyKey, PackageTypeName, PaymentKey } from './schemas.ts'
import { slipHeaders } from './slip-headers.ts'

const orderId = 'ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C'
const paymentKey = 'tgen_20261115200512AbCd1'
const cancelBody = { paymentKey, reason: 'bought by mistake' }
const { packageType, price: amount, credits } = packageOf('STANDARD')
const whenOutcomeUnknown =
  'the service is busy, or what the gateway did is not known yet: repeat the request, nothing is done twice'

export const documentedPayments = {
  purchase: {
    operationId: 'purchaseCredits',
    tag: 'Payments',
    summary: 'Purchase credits',
    description:
      'Creates a payment order for a package and gives what the checkout in the browser needs. No credits are added and ' +
      'no money moves before the payment is confirmed. Send an `X-Idempotency-Key` to be able to repeat the request.',
    headers: { 'X-Idempotency-Key': IdempotencyKey },
    body: { packageType, paymentMethod },
    answers: {
      201: success(
        {
          orderId,
          packageType,
          amount,
          clientKey: 'test_ck_of_your_shop',
          successUrl: 'https://shop.example/success',
          failUrl: `https://shop.example/fail?orderId=${orderId}`,
        },
        'The payment order is created.',
      ),
    },
    refusals: [
      missing('packageType'),
      notAllowed('packageType', PackageTypeName),
      refused('the X-Idempotency-Key is malformed', purchaseRefusals.malformedIdempotencyKey()),
      refused('the X-Idempotency-Key belongs to a purchase with another body', purchaseRefusals.idempotencyKeyUsed()),
      refused(
        'the customer has as many orders awaiting confirmation as it may have',
        purchaseRefusals.tooManyPending(1_000),
      ),
    ],
  },
  confirm: {
    operationId: 'confirmPayment',
    tag: 'Payments',
    summary: 'Confirm a payment',
    description:
      'Captures the payment that the buyer has approved in the checkout and adds the credits. Repeat it until there is ' +
      'an answer other than SVC001: the payment is captured and the credits are added once, and a repeated confirm ' +
      'gets the first answer again.',
    body: { orderId, paymentKey, amount },
    answerHeaders: slipHeaders,
    answers: {
      200: success(
        {
          orderId,
          creditsAdded: credits,
          totalCredits: 32,
          message: `${credits} credits added. The balance is 32 credits.`,
        },
        'The payment is confirmed.',
      ),
    },
    refusals: [
      missing('paymentKey'),
      notAllowed('amount', Amount),
      refused('there is no such order of this customer', orderNotFound()),
      refused('the amount is not that of the order', confirmRefusals.wrongAmount({ amount })),
      refused('the paymentKey belongs to another order', confirmRefusals.paymentKeyOfAnotherOrder()),
      refused(
        'the gateway has refused the payment; the order is FAILED now',
        confirmRefusals.refusedByGateway('card-declined'),
      ),
      refused('the order is not PENDING any more', confirmRefusals.notPending('CANCELLED', null)),
      refused(whenOutcomeUnknown, outcomeUnknown()),
    ],
  },
  credits: {
    operationId: 'getCreditBalance',
    tag: 'Payments',
    summary: 'Get the credit balance',
    description: 'What the customer of the API key can spend now.',
    answers: {
      200: success({ credits: 32, customerId: '5509d75f-dfe0-4984-9be9-f02d7cdb5de6' }, 'The credit balance.'),
    },
    refusals: [],
  },
  packages: {
    operationId: 'listCreditPackages',
    tag: 'Payments',
    summary: 'List the credit packages',
    description: 'The packages there are, in the order BASIC, STANDARD, PRO. Prices are in KRW.',
    answers: { 200: success(packages, 'The credit packages.') },
    refusals: [],
  },
  status: {
    operationId: 'getPaymentStatus',
    tag: 'Payments',
    summary: 'Get the status of a payment',
    description:
      'The order as it stands now. The headers have what its buyer finds on the card statement, once it is confirmed, or ' +
      'why it is FAILED.',
    answerHeaders: { ...slipHeaders, [refusalReasonHeader]: FailureReasonName },
    answers: {
      200: success(
        {
          orderId,
          status: 'CONFIRMED',
          packageType,
          amount,
          createdAt: '2026-11-15T11:05:12.031Z',
          confirmedAt: '2026-11-15T11:05:45.863Z',
        },
        'The payment status.',
      ),
    },
    refusals: [refused('there is no such order of this customer', orderNotFound())],
  },
  cancel: {
    operationId: 'cancelPayment',
    tag: 'Payments',
    summary: 'Cancel a payment',
    description:
      'Refunds a confirmed payment and takes its credits from the balance. All of its credits must be available. After ' +
      'SVC001 repeat it: the payment is refunded once.',
    body: cancelBody,
    answers: { 200: success({ message: 'The payment is cancelled and its credits are taken back.' }, null) },
    refusals: [
      missing('reason'),
      notAllowed('paymentKey', PaymentKey),
      notAllowed('reason', CancelReason),
      refused('there is no such payment of this customer', cancelRefusals.paymentNotFound()),
      refused('its credits are spent or held', cancelRefusals.creditsSpentOrHeld(cancelBody)),
      refused('it is cancelled already', cancelRefusals.alreadyCancelled(cancelBody)),
      refused('it is refunded already', cancelRefusals.alreadyRefunded(cancelBody)),
      refused('it was never captured', cancelRefusals.notCaptured(cancelBody)),
      refused('the gateway refuses', cancelRefusals.refusedByGateway(cancelBody)),
      refused(whenOutcomeUnknown, outcomeUnknown()),
    ],
  },
} satisfies Record<string, Documented>
