// What the console shows of cancels that were made with a new API key.
import Type from 'typebox'
import { Moment, paging, Text, TextOrNull, Whole } from '../schema-words.ts'

export const NewKeyCancelsQuery = Type.Object(paging)
/** Newest first. A page may have fewer rows than the limit, or none, and still be followed by another. */
export const NewKeyCancelsData = Type.Object({
  cancels: Type.Array(
    Type.Object({
      operationId: Text,
      openedAt: Moment,
      state: Type.Enum(['OPEN', 'APPROVED', 'REJECTED']),
      orderId: Text,
      customerId: Text,
      customerName: TextOrNull,
      /** KRW. */
      amount: Whole,
      keyId: Text,
      lastFour: Text,
      /** When the cancel was begun. */
      keyAgeSeconds: Whole,
    }),
  ),
  nextCursor: TextOrNull,
})
