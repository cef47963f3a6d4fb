// The schemas of the page of the action log.
import Type from 'typebox'
import { DetailFields, lineOf, Moment, MomentOrNull, paging, Text, TextOrNull } from '../schema-types.ts'

export const ActionLogQuery = Type.Object({
  ...paging,
  subject: Type.Optional(lineOf(100, 'the id of what an action was about')),
})
/** Newest first. */
export const ActionLogData = Type.Object({
  actions: Type.Array(
    Type.Object({
      actionId: Text,
      at: Moment,
      actor: Text,
      command: Text,
      arguments: Type.Array(Text),
      subject: TextOrNull,
      reason: TextOrNull,
      /** Null: in progress, or its process was killed. */
      outcome: TextOrNull,
      about: Type.Union([DetailFields, Type.Null()]),
      endedAt: MomentOrNull,
    }),
  ),
  nextCursor: TextOrNull,
})
