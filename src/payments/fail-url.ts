// The URL that a buyer returns to when a payment fails. The order id is part of it, because the gateway does not add it.
import { newOrderId } from '../core/ids.ts'

export type FailUrlOf = (orderId: string) => string

/** Parses the address once; only the order id differs. */
export function failUrlOf(address: string): FailUrlOf {
  const placeholder = newOrderId()
  const url = new URL(address)
  url.searchParams.set('orderId', placeholder)
  const [before = '', after = ''] = url.href.split(placeholder)
  return (orderId) => `${before}${orderId}${after}`
}
