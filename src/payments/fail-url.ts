// The address a buyer comes back to when a payment fails. It carries the order: the gateway leaves it out there.
import { newOrderId } from '../core/ids.ts'

export type FailUrlOf = (orderId: string) => string

/** Reads the address once: it is the same for every order but for the order. */
export function failUrlOf(address: string): FailUrlOf {
  const somebodys = newOrderId()
  const url = new URL(address)
  url.searchParams.set('orderId', somebodys)
  const [before = '', after = ''] = url.href.split(somebodys)
  return (orderId) => `${before}${orderId}${after}`
}
