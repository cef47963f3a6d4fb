// One-line texts that people type, in commands and in the console: surrounding blanks are ignored and not counted.

/** A name: no invisible characters. */
export const namePattern = /^\p{Z}*(?!\p{Z})[^\p{C}]{1,100}(?<!\p{Z})\p{Z}*$/u

/** The reason of a request: what the gateway accepts and PostgreSQL can store. */
export const reasonPattern = /^\p{Z}*(?!\p{Z})[^\p{Cc}\p{Cs}]{1,200}(?<!\p{Z})\p{Z}*$/u

/** The reason of an operator, in a command and in the console. */
export const tellingReasonPattern = /^\p{Z}*(?!\p{Z})[^\p{Cc}\p{Cs}]{3,200}(?<!\p{Z})\p{Z}*$/u
