// Fields of a gateway answer that are stored and logged: printable ASCII of at most 200 characters, or the answer is refused.
import Type from 'typebox'

export const printableText = Type.String({ pattern: '^[\\x20-\\x7e]{0,200}$' })
