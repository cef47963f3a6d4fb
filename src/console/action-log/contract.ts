// The schemas of the page of the action log.
import Type from 'typebox'
import { Day, DetailFields, lineOf, Moment, MomentOrNull, paging, Text, TextOrNull } from '../schema-types.ts'

export const ActionLogQuery = Type.Object({
  ...paging,
  subject: Type.Optional(lineOf(100, 'the id of what an action was about')),
  actor: Type.Optional(lineOf(100, 'the name of an operator')),
  command: Type.Optional(lineOf(100, 'what was done')),
  /** Both days are included. */
  from: Type.Optional(Day),
  to: Type.Optional(Day),
})
/** Newest first. A page may have fewer rows than the limit, or none, and still be followed by another. */
export const ActionLogData = Type.Object({
  actions: Type.Array(
    Type.Object({
      actionId: Text,
      at: Moment,
      actor: Text,
      command: Text,
      arguments: Type.Array(Text),
      subject: TextOrNull,
      /** The name of the customer that it is about. */
      subjectName: TextOrNull,
      reason: TextOrNull,
      /** Null: in progress. `unknown`: its process was killed, or does not reach the database. */
      outcome: TextOrNull,
      about: Type.Union([DetailFields, Type.Null()]),
      /** Null also when the outcome is `unknown`. */
      endedAt: MomentOrNull,
    }),
  ),
  nextCursor: TextOrNull,
})
