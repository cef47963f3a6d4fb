// What the pages of the books show, and what their actions take and give.
import Type from 'typebox'
import { StoryMoments } from '../orders/contract.ts'
import {
  Day,
  Detail,
  Flag,
  Moment,
  MomentOrNull,
  OrderStatus,
  paging,
  Reason,
  Text,
  TextOrNull,
  Uuid,
  Whole,
} from '../schema-words.ts'

export const DaysQuery = Type.Object({ from: Type.Optional(Day), to: Type.Optional(Day) })

/**
 * KRW of a day of Korea. The books are our operations that account for the gateway's movements, and those of the day that
 * the gateway does not confirm. The difference is the gateway's net less that of the books.
 */
const Money = Type.Object({ captured: Whole, cancelled: Whole, net: Whole })
export const dayStates = ['agrees', 'repaired', 'differs', 'under way', 'not compared'] as const
export const DaysData = Type.Object({
  /** Newest first. */
  days: Type.Array(
    Type.Object({
      day: Text,
      state: Type.Enum([...dayStates]),
      movements: Whole,
      /** Null: the day has not been compared yet. */
      gateway: Type.Union([Money, Type.Null()]),
      books: Type.Union([Money, Type.Null()]),
      difference: Whole,
      reconciliationId: TextOrNull,
      comparedAt: MomentOrNull,
    }),
  ),
})

const Result = Type.Object({
  movements: Whole,
  captured: Whole,
  cancelled: Whole,
  bookedCaptured: Whole,
  bookedCancelled: Whole,
  foreign: Whole,
  /** Not in results of version 0.7.0. */
  outsideCaptured: Type.Optional(Whole),
  outsideCancelled: Type.Optional(Whole),
  missingCaptured: Type.Optional(Whole),
  missingCancelled: Type.Optional(Whole),
  notListed: Type.Optional(Whole),
  listedDifferently: Type.Optional(Whole),
  reviewed: Type.Object({ agrees: Whole, repaired: Whole, disagrees: Whole, 'under way': Whole, unknown: Whole }),
})
export const RunData = Type.Object({
  reconciliationId: Text,
  cause: Type.Enum(['DAILY', 'COMMAND']),
  from: Moment,
  to: Moment,
  startedAt: Moment,
  finishedAt: MomentOrNull,
  /** `interrupted`: whoever was at it has gone; nothing is lost, and it can be run again. */
  state: Type.Enum(['under way', 'finished', 'interrupted']),
  result: Type.Union([Result, Type.Null()]),
})
export const RunParams = Type.Object({ reconciliationId: Uuid })
export const RunsQuery = Type.Object(paging)
export const RunsData = Type.Object({ runs: Type.Array(RunData), nextCursor: TextOrNull })
/** Both days are included. */
export const ReconcileBody = Type.Object({ from: Day, to: Day, reason: Reason })
export const ReconcileData = Type.Object({ reconciliationId: Text })

export const DiscrepanciesQuery = Type.Object({
  ...paging,
  state: Type.Optional(Type.Enum(['open', 'resolved'], { description: 'open or resolved' })),
  /** Only those that were there when this run ended: found by then, and seen since it began. */
  reconciliationId: Type.Optional(Uuid),
})
const discrepancy = {
  discrepancyId: Text,
  kind: Text,
  subject: Text,
  customerId: TextOrNull,
  orderId: TextOrNull,
  detail: Detail,
  foundAt: Moment,
  lastSeenAt: Moment,
  resolvedAt: MomentOrNull,
  resolution: TextOrNull,
}
export const DiscrepancyData = Type.Object(discrepancy)
/** The open ones oldest first, the resolved ones newest first. */
export const DiscrepanciesData = Type.Object({
  discrepancies: Type.Array(DiscrepancyData),
  nextCursor: TextOrNull,
})
export const DiscrepancyParams = Type.Object({ discrepancyId: Uuid })
export const discrepancyActions = ['settle', 'resolve'] as const
export const DiscrepancyPageData = Type.Object({
  discrepancy: Type.Object({ ...discrepancy, customerName: TextOrNull }),
  /** As it is now; null: it is about no order of ours. */
  order: Type.Union([Type.Object({ orderId: Text, status: OrderStatus, amount: Whole, credits: Whole }), Type.Null()]),
  /** In the order of time, as in the story of an order: found, what operators did about it or its order meanwhile, resolved. */
  history: StoryMoments,
  /** About the same order, newest first. */
  others: Type.Array(Type.Object({ discrepancyId: Text, kind: Text, foundAt: Moment, resolvedAt: MomentOrNull })),
  /** Whether it can be done now by this operator, and if not, why. */
  actions: Type.Array(
    Type.Object({
      action: Type.Enum([...discrepancyActions]),
      allowed: Flag,
      code: Type.Union([Type.Enum(['role', 'resolved', 'no order']), Type.Null()]),
    }),
  ),
})
export const ResolvedData = Type.Object({ discrepancyId: Text, kind: Text, resolution: Text })
