// What a person types into one line, for commands and the console alike: blanks around it are nobody's, and are not counted.

/** A name that is shown: nothing invisible is in it. */
export const namePattern = /^\p{Z}*(?!\p{Z})[^\p{C}]{1,100}(?<!\p{Z})\p{Z}*$/u

/** Why something is done: what the gateway takes, and PostgreSQL holds. */
export const reasonPattern = /^\p{Z}*(?!\p{Z})[^\p{Cc}\p{Cs}]{1,200}(?<!\p{Z})\p{Z}*$/u

/** The same for the console, where people type it each time. Commands take a shorter one: scripts rely on it. */
export const tellingReasonPattern = /^\p{Z}*(?!\p{Z})[^\p{Cc}\p{Cs}]{3,200}(?<!\p{Z})\p{Z}*$/u
