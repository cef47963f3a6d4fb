// The schemas of the receipt endpoints of the internal API.
import Type from 'typebox'
import { CustomerPath } from '../../credits/schemas.ts'

const { customerId } = CustomerPath.properties

/** A path with text that is no id gets NOT000, so there are no patterns. */
export const OrderReceiptParams = Type.Object({
  customerId,
  orderId: Type.String({
    description: 'an order of the customer',
    examples: ['ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C'],
  }),
})
export const ReferenceReceiptParams = Type.Object({
  customerId,
  reference: Type.String({
    description: 'the reference of a spend, a hold, a part of a hold or a reversal, percent-encoded',
    examples: ['analysis-4711'],
  }),
})

/** Query values are text. */
export const EntryNumber = Type.String({
  pattern: '^[1-9]\\d{0,14}$',
  description: 'the number of an entry, from 1 on',
})
export const StatementReceiptQuery = Type.Object({
  from: Type.String({ ...EntryNumber, examples: ['1'] }),
  to: Type.String({ ...EntryNumber, examples: ['2'] }),
})

const Id = Type.String({ format: 'uuid' })
const Hash = Type.String({ description: 'a SHA-256 hash in base64' })
const WholeNumber = Type.Integer({ minimum: 1 })

export const ReceiptData = Type.Object(
  {
    format: Type.Literal('prepaid-credits/receipt/v1'),
    subject: Type.Union([
      Type.Object({ order: Type.String() }),
      Type.Object({ reference: Type.String(), customer: Id }),
      Type.Object({ statement: Type.Object({ customer: Id, from: WholeNumber, to: WholeNumber }) }),
    ]),
    entries: Type.Array(
      Type.Object(
        {
          leaf: Type.String({ description: 'the entry as the log has it, in lines' }),
          index: Type.String({ pattern: '^\\d+$', description: 'its place in the log, from 0 on' }),
          proof: Type.Array(Hash, { description: 'from the leaf to the root, as in RFC 6962' }),
        },
        { title: 'ProvenEntry' },
      ),
      { minItems: 1 },
    ),
    checkpoint: Type.String({
      description:
        'a signed note: origin, size and root of the log; with the lines of witnesses when a published checkpoint that ' +
        'they have cosigned has all entries',
    }),
    keys: Type.Array(Type.String(), {
      minItems: 1,
      description: 'the public keys of the log, to compare with known ones',
    }),
  },
  {
    title: 'Receipt',
    description: 'Proves that the entries are in the log. Saved as a file, it can be verified without this service.',
  },
)
