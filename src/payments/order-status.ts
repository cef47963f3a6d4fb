// Section 3 of the specification: the states of an order and every way from one to another. Finish takes a row of the
// table as its parameter and guards it (`where status = …`); the database refuses any other pair by a trigger, and any
// other state by a check constraint.
import { assert } from '../core/assert.ts'

export const orderStatuses = ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/** What a transition does to the credits of the order. */
export type CreditsEffect = 'none' | 'grant' | 'hold' | 'take-held' | 'release'

// REFUNDED is a platform action (section 3, last row). CANCEL_STARTED is what the claim of a cancel does; the other rows
// are finished by their event.
export const transitions = [
  { from: 'PENDING', event: 'CONFIRM_APPROVED', to: 'CONFIRMED', credits: 'grant' },
  { from: 'PENDING', event: 'CONFIRM_REJECTED', to: 'FAILED', credits: 'none' },
  { from: 'CONFIRMED', event: 'CANCEL_STARTED', to: 'CONFIRMED', credits: 'hold' },
  { from: 'CONFIRMED', event: 'CANCEL_APPROVED', to: 'CANCELLED', credits: 'take-held' },
  { from: 'CONFIRMED', event: 'CANCEL_REJECTED', to: 'CONFIRMED', credits: 'release' },
] as const satisfies { from: OrderStatus; event: string; to: OrderStatus; credits: CreditsEffect }[]

export type Transition = (typeof transitions)[number]
export type OrderEvent = Transition['event']

/** Each event leaves one state only, so the event alone names its row. */
export function transitionOf(event: OrderEvent): Transition {
  const transition = transitions.find((each) => each.event === event)
  assert(transition, `no transition for ${event}`)
  return transition
}
