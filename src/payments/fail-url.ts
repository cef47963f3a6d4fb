// The URL to which the gateway sends the buyer of a failed payment. We add the order id: the gateway omits it there.
import { newOrderId } from '../core/ids.ts'

export type FailUrlOf = (orderId: string) => string

/** Parses the URL once; for each order only the order id is inserted. */
export function failUrlOf(address: string): FailUrlOf {
  const placeholder = newOrderId()
  const url = new URL(address)
  url.searchParams.set('orderId', placeholder)
  const [before = '', after = ''] = url.href.split(placeholder)
  return (orderId) => `${before}${orderId}${after}`
}
