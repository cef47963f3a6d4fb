// The card slip of a payment as response headers of the public API, whose answers have no field for it. A header is sent when
// there is a value. The values are visible ASCII: a constraint of the database.
import Type from 'typebox'
import type { CardSlip } from '../gateway/gateway.ts'

/** For the API document, here and in the event of a confirmed order. */
export const documentedSlip = {
  receiptUrl: {
    description: 'the receipt of the card payment, a page of the gateway',
    example: 'https://dashboard.tosspayments.com/receipt/redirection?transactionId=tgen_20261115200512AbCd1&ref=PX',
  },
  cardNumber: { description: 'the card that was charged, masked', example: '43301234****123*' },
  approvalNumber: { description: 'under which the card company has approved the payment', example: '00482913' },
} satisfies Record<keyof CardSlip, { description: string; example: string }>

const names = {
  receiptUrl: 'Payment-Receipt-Url',
  cardNumber: 'Payment-Card',
  approvalNumber: 'Payment-Approval-Number',
} satisfies Record<keyof CardSlip, string>
const members = Object.keys(names) as (keyof CardSlip)[]

export const slipHeaders = Object.fromEntries(
  members.map((member) => {
    const { description, example } = documentedSlip[member]
    return [
      names[member],
      Type.String({ description: `${description}; only if the gateway sent it`, examples: [example] }),
    ]
  }),
)

export function slipHeadersOf(slip: CardSlip): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const member of members) {
    const value = slip[member]
    if (value !== null) headers[names[member]] = value
  }
  return headers
}
