// How long a session of an operator lasts. The page is built with them, too: it asks whether a session is over when it has to
// be, so that what it shows is hidden.

/** Until nothing was asked for, and until the end whatever happens. */
export const idleMs = 30 * 60_000
export const wholeMs = 12 * 3_600_000
