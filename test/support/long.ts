// Tests that `npm test` skips to stay within its time, and `LONG=1 npm test` runs.
export const isLong = process.env.LONG === '1'

/** For the `skip` of a test. */
export const longOnly = isLong ? false : 'LONG=1 npm test runs it'
