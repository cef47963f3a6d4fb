// What a scenario of the fault table consists of: how far things have come, the call that is struck, what it crosses, and
// what there is when all is over.
import type { Gateway } from '../../../src/gateway/gateway.ts'

/** How far the customer has come before the call. */
export type Given =
  | 'a customer'
  | 'a paid order'
  | 'an order the card company will refuse'
  | 'a confirmed order'
  | 'a confirmed order with some credits spent'
  | 'a confirmed order with all credits spent'
  | 'a hold'
  // Of these the confirm was left without a known outcome.
  | 'a captured payment whose answer was lost'
  | 'a confirm that never arrived'
  | 'a refused confirm whose answer was lost'
  | 'a captured payment whose answer was lost, cancelled since'
  /** Nobody has been told. */
  | 'a cancel that the background has finished'
  // These happened at the gateway behind our back.
  | 'a confirmed order cancelled in the dashboard'
  | 'a capture nobody asked for'
  | 'a capture for an order that was refused'
  | 'a capture for an order that has expired'

/** What a caller or an operator asks for, what the gateway tells, and what the worker does by itself. */
export type CallName =
  | 'purchase'
  | 'confirm'
  | 'cancel'
  | 'spend'
  | 'hold'
  | 'capture'
  | 'release'
  | 'refund'
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
  /** Credits that are set aside. */
  held?: number
  /** The states of the holds, each with the credits that were captured. */
  holds?: string[]
  /** How many operations are left open. */
  open?: number
  /** Credits that a refund could not take back. */
  shortfall?: number
  /** Discrepancies that a person has to look at. */
  discrepancies?: string[]
  /** Discrepancies that were found and have resolved themselves. */
  resolved?: string[]
  /** What became of the notification; `seen to` is whatever fits; null while nobody has looked at it. */
  heard?: 'seen to' | 'agrees' | 'nothing new' | null
}

export type Ends = Books & {
  answer: string
  /** What a success tells. */
  data?: (subject: Subject) => unknown
}

export type Scenario = {
  title: string
  given: Given
  /** Nobody else waits in the world: the call would take notice of them too. */
  alone?: boolean
  call: CallName
  /** Ends in this way only. */
  ending?: Ending
  /** The order is older than an order may become, and the time of a hold is over. */
  aged?: boolean
  /** The gateway has told us that the payment is in this state. */
  notified?: 'DONE' | 'CANCELED'
  /** Something else than the sandbox behind the port. */
  gateway?: (gateway: Gateway) => Gateway
  /** What the call crosses when nothing is struck; `… × 12` where it crosses the same again and again. */
  crossings: string[]
  /** The answer of the call when nothing is struck, if it is not the last one. */
  firstAnswer?: 'SVC001'
  ends: Ends
  /** How it ends when nobody calls again and the worker is alone with it. */
  background?: Background
  /** What we send to the gateway in all, where the state of the payment does not tell. */
  sends?: ('confirm' | 'cancel')[]
}

export type Background = {
  /** In this order, again and again; its recovery, unless told otherwise. */
  jobs?: CallName[]
  /** What is left when the call was struck before it had begun anything; it is as in `ends` when it had. */
  unbegun?: Books
  /** What a later call leads to then; `ends`, unless told otherwise. */
  afterUnbegun?: Ends
  /** What it leads to when the call had begun; `ends`, unless told otherwise. */
  afterBegun?: Ends
  /** Instead of all that: what is left, and what a later call leads to, by the state that the order has come to. */
  byStatus?: Record<string, { rests: Books; last: Ends }>
}

export type Subject = {
  customerId: string
  reference: string
  orderId: string
  paymentKey: string
  holdId: string
}
