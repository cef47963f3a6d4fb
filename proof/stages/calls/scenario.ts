// The types of a scenario of the fault table: the initial state, the action, its calls, and the expected end.
import type { Gateway } from '../../../src/gateway/gateway.ts'
import type { World } from './world.ts'

/** The state of the customer before the action. */
export type Given =
  | 'a customer'
  | 'a paid order'
  | 'an order the card company will refuse'
  | 'a confirmed order'
  | 'a confirmed order with some credits spent'
  | 'a confirmed order with all credits spent'
  | 'a hold'
  // In these the confirm has no known outcome.
  | 'a captured payment whose answer was lost'
  | 'a confirm that never arrived'
  | 'a refused confirm whose answer was lost'
  | 'a captured payment whose answer was lost, cancelled since'
  /** No caller got the answer. */
  | 'a cancel that the background has finished'
  // These happened at the gateway without this service.
  | 'a confirmed order cancelled in the dashboard'
  | 'a capture outside this service'
  | 'a capture for an order that was refused'
  | 'a capture for an order that has expired'

/** Requests of callers and operators, notifications of the gateway, and jobs of the worker. */
export type ActionName =
  | 'purchase'
  | 'confirm'
  | 'cancel'
  | 'spend'
  | 'hold'
  | 'part'
  | 'capture'
  | 'release'
  | 'refund'
  | 'refundUnused'
  | 'notify'
  | 'process'
  | 'expire'
  | 'expireHolds'
  | 'recover'
  | 'reconcile'
  | 'reconcileDay'

export const endings = ['called again', 'left to the background'] as const
export type Ending = (typeof endings)[number]

export type Books = {
  order: string
  movements: string[]
  /** The state of the payment at the gateway; null when there is none. */
  payment: string | null
  /** Credits that are held. */
  held?: number
  /** The states of the holds, each with the credits that were captured. */
  holds?: string[]
  /** The number of open operations. */
  open?: number
  /** Credits that a refund could not remove. */
  shortfall?: number
  /** Open discrepancies. */
  discrepancies?: string[]
  /** Discrepancies that were found and then resolved automatically. */
  resolved?: string[]
  /** The outcome of the notification; `processed` is any outcome without a discrepancy; null while it is open. */
  notification?: 'processed' | 'agrees' | 'nothing new' | null
}

export type Ends = Books & {
  answer: string
  /** The data of a success. */
  data?: (subject: Subject) => unknown
}

export type Scenario = {
  title: string
  given: Given
  /** No other subject may wait in the world: the action would process it too. */
  alone?: boolean
  action: ActionName
  /** The only ending; all endings by default. */
  ending?: Ending
  /** The order is past its lifetime, and a hold has expired. */
  aged?: boolean
  /** The gateway has sent a notification with this state of the payment. */
  notified?: 'DONE' | 'CANCELED'
  /** Another gateway than the sandbox behind the port. */
  gateway?: (gateway: Gateway) => Gateway
  /** Its calls of the database and the gateway without a fault; `… × 12` for a repetition. */
  calls: string[]
  /** The answer without a fault, if it is not the last one. */
  firstAnswer?: 'SVC001'
  ends: Ends
  /** The end when nobody asks again and only the worker continues. */
  background?: Background
  /** All calls sent to the gateway, where they do not follow from the state of the payment. */
  sends?: ('confirm' | 'cancel')[]
  /** Pairs of faults: in the action, then in one of these: itself again, or the worker. */
  followedBy?: ActionName[]
  /** Pairs of faults: in such a job, then in the action. */
  after?: { job: ActionName; calls: string[] }
  /** The title of the same with the real clock, where leases expire by themselves. */
  inRealTime?: string
}

/** What is not a row of the table. */
export type Story = { title: string; run(world: World): Promise<void> }

export type Scenarios = { scenarios: Record<string, Scenario>; stories?: Story[] }

export type Background = {
  /** The jobs, repeated in this order; by default only recovery. */
  jobs?: ActionName[]
  /** The result when the fault came before the action had an effect; otherwise it is as in `ends`. */
  unbegun?: Books
  /** The result of a later call in that case; `ends` by default. */
  afterUnbegun?: Ends
  /** The result of a later call when the action had an effect; `ends` by default. */
  afterBegun?: Ends
  /** Instead of all that: the result, and the result of a later call, by the state of the order. */
  byStatus?: Record<string, { rests: Books; last: Ends }>
}

export type Subject = {
  customerId: string
  reference: string
  orderId: string
  paymentKey: string
  holdId: string
}
