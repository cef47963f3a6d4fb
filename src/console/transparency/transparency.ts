// Receipts for operators to hand on, and the state of the transparency log.

import { findOrderKeys } from '../../payments/orders.sql.ts'
import { orderNotFound } from '../../payments/refusals.ts'
import { readLogBacklog } from '../../transparency/backlog.sql.ts'
import { type NewReceipt, receiptOfOrder, receiptOfStatement } from '../../transparency/receipts/receipts.ts'
import { findHoldingRestore, heldBackText } from '../../transparency/restored/restores.sql.ts'
import type { ConsoleContext } from '../context.ts'
import { refuseBecause } from '../refusals.ts'
import type { Handlers } from '../routes.ts'
import { findLogState } from './transparency.sql.ts'

type LogContext = Pick<ConsoleContext, 'database' | 'background' | 'signer'>
type LogEndpoint = 'orderReceipt' | 'statementReceipt' | 'transparencyLog'

export function transparencyHandlers(context: LogContext): Handlers<LogEndpoint> {
  const { database, signer } = context
  return {
    async orderReceipt({ params: { orderId } }) {
      const key = (await findOrderKeys(database, [orderId])).get(orderId)
      if (!key) throw orderNotFound(orderId)
      await requireSigning(context)
      return fileOf(`receipt-${orderId}`, await receiptOfOrder(context, key))
    },
    async statementReceipt({ params, query }) {
      const customerId = params.customerId.toLowerCase()
      const [from, to] = [Number(query.from), Number(query.to)]
      await requireSigning(context)
      return fileOf(`receipt-${customerId}-${from}-${to}`, await receiptOfStatement(context, { customerId, from, to }))
    },
    async transparencyLog() {
      const [checkpoint, restore, { unloggedEntries: waiting, hasMoreUnlogged: waitingIsMore }] = await Promise.all([
        findLogState(database),
        findHoldingRestore(database, signer),
        readLogBacklog(context.background.database),
      ])
      const keys = signer.keys.map(({ vkey }) => vkey)
      return { checkpoint, keys, waiting, waitingIsMore, heldBack: restore && { ...restore, origin: signer.origin } }
    },
  }
}

async function requireSigning({ database, signer }: LogContext): Promise<void> {
  const restore = await findHoldingRestore(database, signer)
  if (restore) throw refuseBecause('SVC001', 'log held back', heldBackText(restore, signer.origin))
}

function fileOf(name: string, receipt: NewReceipt): { name: string; content: string } {
  if (receipt === 'not logged yet') {
    throw refuseBecause('SVC001', 'not logged yet', 'An entry of the receipt is not in the log yet.')
  }
  return { name: `${name}.json`, content: JSON.stringify(receipt) }
}
