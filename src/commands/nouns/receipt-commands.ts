// The command that writes a receipt: of an order, of a reference, or of a part of a customer's statement.
import { findOrderKeys } from '../../payments/orders.sql.ts'
import { orderNotFound } from '../../payments/refusals.ts'
import {
  type NewReceipt,
  receiptOfOrder,
  receiptOfReference,
  receiptOfStatement,
  receiptText,
  requireLogged,
} from '../../transparency/receipts/receipts.ts'
import { receiptEntriesAtMost } from '../../transparency/receipts/refusals.ts'
import type { Call, Command, CommandInput, Option } from '../command.ts'
import { customerOption, orderArgument } from '../line/options.ts'
import { requireCustomerId } from './customer-option.ts'

const sampleId = 'ord_01M7ESE34XW2VNK2VVKDN8SK7P3WRY8JPPQT'

const entryOption = (description: string): Option => ({
  value: 'N',
  description,
  expects: 'the number of an entry, from 1 on',
  accepts: (text) => /^[1-9]\d{0,14}$/.test(text),
})

/** An order, a reference or a span: one of them, each with what it needs. */
function checkSubject({ positionals: [orderId], values }: CommandInput): string | undefined {
  const { customer, reference, from, to } = values
  if (orderId !== undefined) {
    const isAlone = [customer, reference, from, to].every((value) => value === undefined)
    return isAlone ? undefined : 'ORDERID takes no other options'
  }
  if (customer === undefined) return 'ORDERID or --customer is needed'
  if (reference !== undefined) return (from ?? to) ? '--reference takes neither --from nor --to' : undefined
  return from === undefined || to === undefined ? '--customer needs --reference, or --from and --to' : undefined
}

async function findReceipt(call: Call): Promise<NewReceipt> {
  const { database, positionals, values } = call
  const context = { database, signer: call.signer() }
  const [orderId] = positionals
  if (orderId !== undefined) {
    const key = (await findOrderKeys(database, [orderId])).get(orderId)
    if (!key) throw orderNotFound(orderId)
    return receiptOfOrder(context, key)
  }
  const customerId = await requireCustomerId(call)
  const { reference } = values
  if (reference !== undefined) return receiptOfReference(context, { customerId, reference })
  return receiptOfStatement(context, { customerId, from: Number(values.from), to: Number(values.to) })
}

export const receiptCommands: Command[] = [
  {
    name: 'receipt',
    summary: 'Writes a receipt as JSON, of an order, a reference or entries of a customer.',
    details: [
      'A receipt has entries of the ledger with the proof that they are in the transparency log. Give the file to the ' +
        'customer, who can verify it without the service: see verify.',
      `--from and --to are numbers of entries, both included, at most ${receiptEntriesAtMost} entries.`,
      'The worker of the service adds an entry to the log a few seconds after it was made. Until then there is no receipt.',
    ],
    arguments: [{ ...orderArgument, optional: true }],
    options: {
      customer: { ...customerOption, required: false },
      reference: { value: 'TEXT', description: 'the reference of a spend, a hold, a part of a hold or a reversal' },
      from: entryOption('the number of the first entry of the statement'),
      to: entryOption('the number of the last entry'),
    },
    examples: [
      { line: `receipt ${sampleId} > receipt.json`, description: 'the receipt of an order' },
      { line: 'receipt --customer acme --reference analysis-1 > receipt.json', description: 'the receipt of a spend' },
      {
        line: 'receipt --customer acme --from 1 --to 2 > receipt.json',
        description: 'the receipt of the first two entries',
      },
    ],
    failsWhen: 'an entry is not in the log yet',
    writes: 'JSON',
    changesData: false,
    check: checkSubject,
    async *stream(call) {
      yield receiptText(requireLogged(await findReceipt(call)))
    },
  },
]
