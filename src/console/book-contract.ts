// What the pages of the books show, and what their actions take and give.
import Type from 'typebox'
import { Day, Detail, Moment, MomentOrNull, paging, Reason, Text, TextOrNull, Uuid, Whole } from './schema-words.ts'

export const DaysQuery = Type.Object({ from: Type.Optional(Day), to: Type.Optional(Day) })

/** KRW of a day of Korea. The difference is what the gateway has moved and our books do not account for. */
const Money = Type.Object({ captured: Whole, cancelled: Whole, net: Whole })
export const dayStates = ['agrees', 'repaired', 'differs', 'under way', 'not compared'] as const
export const DaysData = Type.Object({
  /** Newest first. */
  days: Type.Array(
    Type.Object({
      ...{ day: Text, state: Type.Enum([...dayStates]), movements: Whole },
      /** Null: the day has not been compared yet. */
      gateway: Type.Union([Money, Type.Null()]),
      books: Type.Union([Money, Type.Null()]),
      difference: Whole,
      ...{ reconciliationId: TextOrNull, comparedAt: MomentOrNull },
    }),
  ),
})

const Result = Type.Object({
  ...{ movements: Whole, captured: Whole, cancelled: Whole, bookedCaptured: Whole, bookedCancelled: Whole },
  foreign: Whole,
  reviewed: Type.Object({ agrees: Whole, repaired: Whole, disagrees: Whole, 'under way': Whole, unknown: Whole }),
})
export const RunData = Type.Object({
  ...{ reconciliationId: Text, cause: Type.Enum(['DAILY', 'COMMAND']), from: Moment, to: Moment },
  ...{ startedAt: Moment, finishedAt: MomentOrNull },
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
export const DiscrepancyData = Type.Object({
  ...{ discrepancyId: Text, kind: Text, subject: Text, customerId: TextOrNull, orderId: TextOrNull, detail: Detail },
  ...{ foundAt: Moment, lastSeenAt: Moment, resolvedAt: MomentOrNull, resolution: TextOrNull },
})
/** The open ones oldest first, the resolved ones newest first. */
export const DiscrepanciesData = Type.Object({
  discrepancies: Type.Array(DiscrepancyData),
  nextCursor: TextOrNull,
})
export const DiscrepancyParams = Type.Object({ discrepancyId: Uuid })
export const ResolvedData = Type.Object({ discrepancyId: Text, kind: Text, resolution: Text })
