// What an answer of the gateway says is stored and logged: printable ASCII of a sane length, or it is not an answer.
import Type from 'typebox'

export const Word = Type.String({ pattern: '^[\\x20-\\x7e]{0,200}$' })
