// Section 3 of the specification, and the one table of what an operation does: for each kind which gateway call it makes and
// which state of the order it starts from, for each outcome everything that follows. `finish` writes a row of it and
// checks that the order is still in `from`. The database refuses any other transition by a trigger, and any other state by
// a check constraint; the audit rules and the tests have tables of their own on purpose.
import type { Tallies } from '../core/tallies.ts'
import { type CreditMovement, movements } from '../credits/movements.ts'

export const orderStatuses = ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/**
 * CONFIRM captures the payment, CANCEL is the customer's, REFUND is the platform's and takes back the credits that are left,
 * RETURN refunds money that was captured for an order that FAILED.
 */
export type CalledKind = 'CONFIRM' | 'CANCEL' | 'REFUND' | 'RETURN'

/** PART is never open and calls nothing: a part of the payment that was cancelled at the gateway, and that a person has accepted. */
export type OperationKind = CalledKind | 'PART'

/** The reason of a refund that was found at the gateway, made in its dashboard. No other refund has it, and none with it is sent. */
export const cancelledElsewhere = 'cancelled at the gateway'

/** EXPIRED: no payment was confirmed in time; recovery/expire.sql.ts writes it as a confirm that never was sent. */
export type ClosedState = 'APPROVED' | 'REJECTED' | 'EXPIRED'

/**
 * The entry that finish.sql.ts writes: GRANT adds the credits of the order, ROLLBACK and REFUND take those that begin has put on
 * hold, RELEASE ends that hold. The event has no type where the order stays what it is.
 */
export type OutcomeRow = CreditMovement & {
  to: OrderStatus
  /** The counters of /metrics. */
  orderCounter: keyof Tallies['orders'] | null
  creditCounter: keyof Tallies['credits'] | null
}

type BookedRow = {
  /** How the gateway lists the money. */
  movement: 'CAPTURE' | 'CANCEL'
  /** How the amount counts in the net payments. A capture for a FAILED order was never part of them, nor is its return. */
  netPaidSign: 1 | -1 | 0
  from: OrderStatus
  outcomes: { APPROVED: OutcomeRow }
}

type KindRow = BookedRow & {
  call: 'confirm' | 'cancel'
  lookup: 'findConfirm' | 'findCancel'
  /** What a lookup that finds no payment at the gateway means, once the call cannot be on its way any more. */
  missingPayment: 'rejected' | 'discrepancy'
  outcomes: Record<'APPROVED' | 'REJECTED', OutcomeRow> & { EXPIRED?: OutcomeRow }
}

/** An outcome that leaves the order as it is; RELEASE ends a hold that begin has made. */
const unchanged = (to: OrderStatus, movement: typeof movements.nothing | typeof movements.release) =>
  ({ to, ...movement, orderCounter: null, creditCounter: null }) satisfies OutcomeRow

export const operationKinds = {
  CONFIRM: {
    call: 'confirm',
    lookup: 'findConfirm',
    missingPayment: 'rejected',
    movement: 'CAPTURE',
    netPaidSign: 1,
    from: 'PENDING',
    outcomes: {
      APPROVED: { to: 'CONFIRMED', ...movements.confirm, orderCounter: 'confirmed', creditCounter: 'granted' },
      REJECTED: { to: 'FAILED', ...movements.fail, orderCounter: 'failed', creditCounter: null },
      EXPIRED: { to: 'FAILED', ...movements.fail, orderCounter: 'expired', creditCounter: null },
    },
  },
  CANCEL: {
    call: 'cancel',
    lookup: 'findCancel',
    missingPayment: 'discrepancy',
    movement: 'CANCEL',
    netPaidSign: -1,
    from: 'CONFIRMED',
    outcomes: {
      APPROVED: { to: 'CANCELLED', ...movements.cancel, orderCounter: 'cancelled', creditCounter: 'rolled_back' },
      REJECTED: unchanged('CONFIRMED', movements.release),
    },
  },
  REFUND: {
    call: 'cancel',
    lookup: 'findCancel',
    missingPayment: 'discrepancy',
    movement: 'CANCEL',
    netPaidSign: -1,
    from: 'CONFIRMED',
    outcomes: {
      APPROVED: { to: 'REFUNDED', ...movements.refund, orderCounter: 'refunded', creditCounter: 'refunded' },
      REJECTED: unchanged('CONFIRMED', movements.release),
    },
  },
  RETURN: {
    call: 'cancel',
    lookup: 'findCancel',
    missingPayment: 'discrepancy',
    movement: 'CANCEL',
    netPaidSign: 0,
    from: 'FAILED',
    outcomes: {
      APPROVED: unchanged('FAILED', movements.nothing),
      REJECTED: unchanged('FAILED', movements.nothing),
    },
  },
  PART: {
    movement: 'CANCEL',
    netPaidSign: -1,
    from: 'CONFIRMED',
    outcomes: {
      APPROVED: { to: 'CONFIRMED', ...movements.part, orderCounter: null, creditCounter: 'refunded' },
    },
  },
} as const satisfies Record<CalledKind, KindRow> & { PART: BookedRow }

/** Undefined while the operation is open. */
export function outcomeOf(kind: OperationKind, state: ClosedState | 'OPEN'): OutcomeRow | undefined {
  const outcomes: Partial<Record<ClosedState | 'OPEN', OutcomeRow>> = operationKinds[kind].outcomes
  return outcomes[state]
}
