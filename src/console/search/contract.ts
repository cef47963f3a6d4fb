// The schemas of the search.
import Type from 'typebox'
import { lineOf, Text, TextOrNull } from '../schema-types.ts'

export const SearchQuery = Type.Object({
  q: lineOf(200, 'a search text'),
})
export const SearchData = Type.Object({
  results: Type.Array(
    Type.Object({
      /** A result links to its order or its customer. */
      kind: Type.Enum(['order', 'payment', 'customer', 'key', 'reference']),
      id: Text,
      orderId: TextOrNull,
      customerId: TextOrNull,
      customerName: TextOrNull,
      status: TextOrNull,
    }),
  ),
})
