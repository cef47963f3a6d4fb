// The gateway port with call counts: a refused request must not have reached it, a repeated one only once.
import type { Gateway } from '../../../src/gateway/gateway.ts'

/** How often each verb of the gateway was called. */
export function countCalls(gateway: Gateway) {
  const calls = { confirm: 0, cancel: 0, findConfirm: 0, findCancel: 0, fetchPayment: 0, listMovements: 0 }
  function counted<Verb extends keyof typeof calls>(verb: Verb): Gateway[Verb] {
    return ((intent: never) => {
      calls[verb] += 1
      return gateway[verb](intent)
    }) as Gateway[Verb]
  }
  const verbs = {
    confirm: counted('confirm'),
    cancel: counted('cancel'),
    findConfirm: counted('findConfirm'),
    findCancel: counted('findCancel'),
    fetchPayment: counted('fetchPayment'),
    listMovements: counted('listMovements'),
  }
  return { gateway: { ...gateway, ...verbs }, calls }
}
