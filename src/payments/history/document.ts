// The endpoints of a customer's orders for the API document.
import { paidWithExample } from '../../credits/lots/paid-with.ts'
import { type Documented, notAllowed, refused } from '../../http/documented.ts'
import { success } from '../../http/envelope.ts'
import { Limit } from '../../http/input/page.ts'
import { packageOf } from '../packages.ts'
import { orderNotFound } from '../refusals.ts'
import { documentedSlip } from '../slip-headers.ts'
import { OwnOrdersQuery } from './schemas.ts'

const { packageType, price: amount, credits } = packageOf('STANDARD')

const order = {
  orderId: 'ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C',
  status: 'CANCELLED',
  packageType,
  amount,
  createdAt: '2026-11-15T11:04:12.201Z',
  confirmedAt: '2026-11-15T11:05:45.863Z',
  credits,
  receiptUrl: documentedSlip.receiptUrl.example,
  cardNumber: documentedSlip.cardNumber.example,
  approvalNumber: documentedSlip.approvalNumber.example,
  paidWith: paidWithExample,
  refusalReason: null,
  refundedAmount: amount,
  refunds: [{ amount, refundedAt: '2026-11-16T02:10:08.417Z' }],
} as const

export const documentedHistory = {
  orders: {
    operationId: 'listOrders',
    tag: 'Payments',
    summary: 'List the orders',
    description:
      'All orders of the customer, newest first, page by page, with what went back of each. `nextCursor` is the cursor of ' +
      'the next page; it is null at the end. A page has 100 orders unless `limit` is set.',
    answers: {
      200: success(
        { customerId: '5509d75f-dfe0-4984-9be9-f02d7cdb5de6', orders: [order], nextCursor: null },
        'The orders of the customer.',
      ),
    },
    refusals: [notAllowed('cursor', OwnOrdersQuery.properties.cursor), notAllowed('limit', Limit)],
  },
  order: {
    operationId: 'getOrder',
    tag: 'Payments',
    summary: 'Get an order',
    description: 'One order as the list has it.',
    answers: { 200: success(order, 'The order.') },
    refusals: [refused('there is no such order of this customer', orderNotFound())],
  },
} satisfies Record<string, Documented>
