// Receipts on the internal listener, for services that show them to their customers: of an order, of a reference, of a part
// of the statement. The data of the answer, saved as a file, is the receipt.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { CustomerPath } from '../../credits/schemas.ts'
import { SuccessOf, success } from '../../http/envelope.ts'
import { documentedReceipts } from './document.ts'
import {
  type NewReceipt,
  type ReceiptContext,
  receiptOfOrder,
  receiptOfReference,
  receiptOfStatement,
  requireLogged,
} from './receipts.ts'
import { OrderReceiptParams, ReceiptData, ReferenceReceiptParams, StatementReceiptQuery } from './schemas.ts'

const response = { 200: SuccessOf(ReceiptData) }
const answer = (receipt: NewReceipt) => success(requireLogged(receipt), 'The receipt, for a file.')

export function receiptRoutes(app: FastifyInstance, context: ReceiptContext): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.get(
    '/internal/v1/customers/:customerId/orders/:orderId/receipt',
    {
      config: { work: 'read', scope: 'read', documented: documentedReceipts.order },
      schema: { params: OrderReceiptParams, response },
    },
    async ({ params: { customerId, orderId } }) =>
      answer(await receiptOfOrder(context, { customerId: customerId.toLowerCase(), orderId })),
  )

  typed.get(
    '/internal/v1/customers/:customerId/references/:reference/receipt',
    {
      config: { work: 'read', scope: 'read', documented: documentedReceipts.reference },
      schema: { params: ReferenceReceiptParams, response },
    },
    async ({ params: { customerId, reference } }) =>
      answer(await receiptOfReference(context, { customerId: customerId.toLowerCase(), reference })),
  )

  typed.get(
    '/internal/v1/customers/:customerId/statement/receipt',
    {
      config: { work: 'read', scope: 'read', documented: documentedReceipts.statement },
      schema: { params: CustomerPath, querystring: StatementReceiptQuery, response },
    },
    async ({ params, query }) => {
      const part = { customerId: params.customerId.toLowerCase(), from: Number(query.from), to: Number(query.to) }
      return answer(await receiptOfStatement(context, part))
    },
  )
}
