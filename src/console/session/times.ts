// How long the session of an operator lasts. The page is built with this file, too: it checks its session at these times and
// hides its contents when the session is over.

/** Without a request. */
export const sessionIdleMs = 30 * 60_000
/** In any case. */
export const sessionMaxMs = 12 * 3_600_000
