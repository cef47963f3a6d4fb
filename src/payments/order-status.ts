// Section 3 of the specification: the states of an order and every way from one to another. Finish takes a row of the
// table as its parameter and guards it (`where status = …`); the database refuses any other pair by a trigger, and any
// other state by a check constraint.
import { assert } from '../core/assert.ts'

export const orderStatuses = ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/** What a transition does to the credits of the order. */
export type CreditsEffect = 'none' | 'grant' | 'hold' | 'hold-available' | 'take-held' | 'release'

// Those that end in _STARTED are what the claim of an operation does, EXPIRED is the clock's; the other rows are finished
// by what the gateway says. REFUNDED is a platform action (section 3, last row): it takes back what is left. Money that
// was captured for a FAILED order is given back, and the order stays what it is.
export const transitions = [
  { from: 'PENDING', event: 'CONFIRM_APPROVED', to: 'CONFIRMED', credits: 'grant' },
  { from: 'PENDING', event: 'CONFIRM_REJECTED', to: 'FAILED', credits: 'none' },
  { from: 'PENDING', event: 'EXPIRED', to: 'FAILED', credits: 'none' },
  { from: 'CONFIRMED', event: 'CANCEL_STARTED', to: 'CONFIRMED', credits: 'hold' },
  { from: 'CONFIRMED', event: 'CANCEL_APPROVED', to: 'CANCELLED', credits: 'take-held' },
  { from: 'CONFIRMED', event: 'CANCEL_REJECTED', to: 'CONFIRMED', credits: 'release' },
  { from: 'CONFIRMED', event: 'REFUND_STARTED', to: 'CONFIRMED', credits: 'hold-available' },
  { from: 'CONFIRMED', event: 'PLATFORM_REFUNDED', to: 'REFUNDED', credits: 'take-held' },
  { from: 'CONFIRMED', event: 'REFUND_REJECTED', to: 'CONFIRMED', credits: 'release' },
  { from: 'FAILED', event: 'RETURN_APPROVED', to: 'FAILED', credits: 'none' },
  { from: 'FAILED', event: 'RETURN_REJECTED', to: 'FAILED', credits: 'none' },
] as const satisfies { from: OrderStatus; event: string; to: OrderStatus; credits: CreditsEffect }[]

export type Transition = (typeof transitions)[number]
export type OrderEvent = Transition['event']

/** Each event leaves one state only, so the event alone names its row. */
export function transitionOf(event: OrderEvent): Transition {
  const transition = transitions.find((each) => each.event === event)
  assert(transition, `no transition for ${event}`)
  return transition
}
