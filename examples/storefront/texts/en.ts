// The texts of the shop in English. The type of this table is the type of both: a text missing in Korean does not compile.

import type { EntryKind, OrderStatus } from '../../../client/src/index.ts'
import type { ApiCode } from '../api.ts'
import type { CancelReason } from '../orders.ts'
import type { FailureReason, OutcomeKind } from '../outcome.ts'
import { formatWon } from './won.ts'

export type Texts = typeof en

const credits = (count: number) => (count === 1 ? '1 credit' : `${count.toLocaleString('en-US')} credits`)

export const en = {
  shop: 'Credit shop',
  packages: 'Packages',
  package: 'Package',
  orders: 'Orders',
  balance: 'Balance',
  language: 'Language',
  skip: 'Skip to the content',
  navigation: 'Shop',
  testMode: 'Test mode: no money moves.',
  credits,
  footer: {
    seller: 'Seller',
    noSeller: 'not given (setting SHOP_SELLER)',
    terms: 'Terms',
    verify: 'Verify a receipt, and the keys for it',
    refunds: 'Cancellation and refunds',
    customer: (name: string) => `Credits bought here go to the account ${name}.`,
    /** `smallest`: KRW; `share`: percent. */
    refundRule: (smallest: number, share: number) =>
      'You can cancel an order yourself, for its full price, as long as you have as many bought credits left as it added. ' +
      `If you have fewer, we refund ${share < 100 ? `${share}% of ` : ''}what is unused of it on request, from ${formatWon(smallest)}; bonus credits are not refunded.`,
  },
  buyCredits: 'Buy credits',
  buyCreditsText:
    'Prepaid credits for using the API. They are added as soon as the payment is complete, and do not expire.',
  bonus: (percentage: number, count: number) => `${percentage}% bonus: ${credits(count)} included`,
  perCredit: (price: number) => `${formatWon(price)} per credit`,
  bestValue: 'Best value',
  vatIncluded: 'VAT included',
  buy: 'Buy',
  packageNames: { BASIC: 'Basic', STANDARD: 'Standard', PRO: 'Pro' } as Record<string, string>,
  orderName: (packageName: string) => `Credit package ${packageName}`,
  order: 'Order',
  amount: 'Amount',
  creditsOfOrder: 'Credits',
  card: 'Card',
  paidWith: 'Paid with',
  paid: {
    methods: { CARD: 'Card', EASY_PAY: 'Wallet', OTHER: 'Another method' },
    wallets: { 토스페이: 'Toss Pay', 네이버페이: 'Naver Pay', 카카오페이: 'Kakao Pay', 페이코: 'PAYCO' } as Record<
      string,
      string
    >,
    byCard: (amount: string) => `${amount} by card`,
    fromWallet: (amount: string) => `${amount} from its balance`,
    points: (amount: string) => `${amount} points`,
  },
  approvalNumber: 'Approval number',
  receipt: 'Receipt',
  openReceipt: 'Open the receipt',
  orderedAt: 'Ordered',
  paidAt: 'Paid',
  history: {
    list: 'Orders and statement',
    noOrders: 'Nothing bought in this shop yet.',
    unpaid: 'Unpaid orders',
    unpaidCount: (count: number) => `Unpaid orders (${count.toLocaleString('en-US')})`,
    unpaidText: 'Nothing was charged for these. An unpaid order expires by itself.',
    date: 'Date',
    status: 'Status',
    more: 'Show more',
  },
  statement: {
    title: 'Statement',
    text: 'Every movement of your credits, including purchases and usage through the API.',
    bought: 'Bought, without cancelled orders',
    usedOfBought: 'Used of what was bought',
    otherLeft: 'Other credits left',
    held: (count: number) => `${credits(count)} of it on hold`,
    noEntries: 'No credits have moved yet.',
    what: 'What',
    change: 'Change',
    balanceAfter: 'Balance',
    byApi: 'through the API',
    older: 'Show older',
    kinds: {
      GRANT: 'Bought',
      ROLLBACK: 'Order cancelled',
      REFUND: 'Order refunded',
      SPEND: 'Spent',
      HOLD: 'Put on hold',
      CAPTURE: 'Spent',
      RELEASE: 'Hold released',
      EXPIRE: 'Hold expired',
      GOODWILL: 'Goodwill credits',
      CORRECTION: 'Correction',
      REVERSAL: 'Usage returned',
    } satisfies Record<EntryKind, string>,
  },
  payHeading: 'Payment',
  payText: 'The payment window of the gateway opens. You come back here afterwards.',
  payButton: 'Open the payment window',
  payProblem: 'The payment window could not be opened. Nothing was charged. Try again.',
  payNoScript: 'The payment window needs JavaScript.',
  payAgain: 'Pay for this order',
  checkAgain: 'Check again',
  choosePackage: 'Choose a package',
  buyPackageAgain: (packageName: string) => `Buy ${packageName} again`,
  toShop: 'Back to the shop',
  seeOrder: 'See the order',
  tryAgain: 'Try again',
  outcome: {
    confirmed: { heading: 'Payment complete', text: null },
    refused: { heading: 'The payment was refused', text: null },
    expired: { heading: 'This order has expired', text: null },
    cancelled: { heading: 'Order cancelled', text: 'The payment was cancelled and its credits were taken back.' },
    refunded: {
      heading: 'Order refunded',
      text: 'This order was refunded. For a partly used order, the unused part is returned.',
    },
    awaiting: { heading: 'Not paid yet', text: 'The order is open. Nothing was charged.' },
    mismatch: {
      heading: 'This payment does not belong to the order',
      text: 'No credits were added for it. The order is still open, and you can pay for it.',
    },
    unknown: {
      heading: 'We are checking your payment',
      text: 'This usually takes less than a minute. Please do not pay again: the result will show up here.',
    },
    missing: {
      heading: 'The order is not known any more',
      text: 'The payment service has no such order for this shop.',
    },
  } satisfies Record<OutcomeKind, { heading: string; text: string | null }>,
  /** Why an order has failed. Where a captured payment may still be on its way back, none says that nothing was charged. */
  failures: {
    'insufficient-funds':
      'The card’s limit or balance is too low. Nothing was charged. Use another card, or check the limit and the balance.',
    'limit-exceeded':
      'The payment exceeds the card’s limit. Nothing was charged. Use another card, or ask your card company about the limit.',
    'card-declined': 'The payment was declined. Nothing was charged. Try another way to pay.',
    'card-expired': 'The card has expired or its details are not valid. Nothing was charged. Use another card.',
    'payment-expired': 'The payment was not completed in time. Nothing was charged. You can buy the package again.',
    'order-expired':
      'It was not paid in time and is closed. No credits were added. If your card shows a charge, it is returned automatically.',
    other:
      'No credits were added. If your card shows a charge, it is returned automatically; contact us before you pay again.',
  } satisfies Record<FailureReason, string>,
  /** On which day, and how much. */
  refunds: {
    cancelled: (day: string, amount: string) => `Cancelled on ${day}: ${amount} goes back to what you paid with.`,
    refunded: (day: string, amount: string) => `Refunded on ${day}: ${amount} goes back to what you paid with.`,
    part: (day: string, amount: string) => `Cancelled in part on ${day}: ${amount} goes back to what you paid with.`,
    shown: 'A card shows it within 3 to 4 business days.',
  },
  added: (count: number) => `+${credits(count)}`,
  balanceChange: (before: number, after: number) => `Balance ${before.toLocaleString('en-US')} → ${credits(after)}`,
  checkedEnough:
    'It is taking longer than usual, and nothing is lost: come back to this order later, or check again now.',
  fail: {
    PAY_PROCESS_CANCELED: { heading: 'Payment cancelled', text: 'You left the payment window. Nothing was charged.' },
    PAY_PROCESS_ABORTED: { heading: 'The payment was not finished', text: 'Nothing was charged.' },
    REJECT_CARD_COMPANY: {
      heading: 'The card was refused',
      text: 'The card company declined in the payment window. Nothing was charged. Try another card.',
    },
  } as Record<string, { heading: string; text: string }>,
  failOtherwise: { heading: 'The payment did not go through', text: 'The payment window ended without a payment.' },
  windowMessage: 'Message of the payment window',
  cancel: {
    heading: 'Cancel this order',
    back: (amount: string) => `${amount} goes back to what you paid with.`,
    taken: (count: number) => `${credits(count)} ${count === 1 ? 'is' : 'are'} deducted from your balance.`,
    takenAll: 'The credits of this order are deducted from your balance.',
    reason: 'Reason',
    next: 'Continue',
    question: 'Cancel this order?',
    final: 'This cannot be undone.',
    yes: 'Yes, cancel the order',
    no: 'Keep the order',
    reasonProblem: 'Give a reason of 1 to 200 characters.',
    unknown:
      'We do not know yet whether the cancellation went through. If it has begun, its credits are on hold until we do.',
    again: 'Try again',
    refused: 'The order could not be cancelled.',
    /** In place of the form, and after a refusal. */
    refusals: {
      'credits-spent':
        'This order cannot be cancelled here because fewer bought credits are left than it added: the others are used or on hold. For a refund of the unused part, please contact us.',
      'already-cancelled': 'The order is already cancelled.',
      'already-refunded': 'The order is already refunded.',
      'not-captured': 'The order was not paid: there is nothing to cancel.',
      'refused-by-gateway': 'The card company did not accept the cancellation. Please contact us for a refund.',
    } satisfies Record<CancelReason, string>,
  },
  /** The receipt of the transparency log. `receipt` above is the one of the card company. */
  proof: {
    heading: 'Proof of your order',
    text: 'This file proves that your order is in our log, which can only grow. Keep it: with it you can show later that nothing was changed.',
    link: 'Receipt you can verify',
    verify: 'Verify it here',
    soon: {
      heading: 'Ready in a few seconds',
      text: 'Your order is being added to the log. Try again in a few seconds.',
    },
    none: { heading: 'No receipt', text: 'This order has moved no credits, so there is nothing to prove.' },
  },
  statuses: {
    PENDING: 'Not paid yet',
    CONFIRMED: 'Complete',
    FAILED: 'Refused',
    CANCELLED: 'Cancelled',
    REFUNDED: 'Refunded',
  } satisfies Record<OrderStatus, string>,
  statusExpired: 'Expired',
  statusUnknown: 'Being checked',
  statusMissing: 'Not known',
  tooManyUnpaid: {
    heading: 'Too many unpaid orders',
    text: 'You have too many orders that are not paid yet. Pay for one of them, or wait until they expire.',
    link: 'See the unpaid orders',
  },
  notFound: { heading: 'Page not found', text: 'There is nothing at this address.' },
  orderNotFound: { heading: 'Order not found', text: 'This shop has no such order.' },
  amountDiffers: {
    heading: 'The amount does not match',
    text: 'The amount in the address is not the amount of the order. This address has completed nothing: see the order.',
  },
  incomplete: {
    heading: 'Something is missing',
    text: 'The address or the form is incomplete. Start again from the shop.',
  },
  failed: { heading: 'Something went wrong here', text: 'The shop has a problem. Try again in a moment.' },
  unavailable: 'The shop is not available',
  errors: {
    INVALID_API_KEY: "The shop's access to the payment service is not set up correctly. Please contact the shop.",
    AUTH001: 'The payment service does not recognise this shop. Please contact the shop.',
    AUTH003: "The shop's access to the payment service is suspended. Please contact the shop.",
    VAL001: 'The payment service could not read the request of the shop. Please contact the shop.',
    VAL002: 'The request of the shop lacks a value. Please contact the shop.',
    VAL003: 'The payment service did not accept the request.',
    VAL004: 'The request of the shop is too large. Please contact the shop.',
    BUS002: 'There are not enough credits for this.',
    PAYMENT_CANCEL_FAILED: 'The payment could not be cancelled.',
    NOT000: 'The payment service has no such entry.',
    SVC001: 'The payment service is busy at the moment.',
    INT001: 'The payment service has a problem at the moment.',
    UNREACHABLE: 'The payment service cannot be reached at the moment.',
  } satisfies Record<ApiCode, string>,
}
