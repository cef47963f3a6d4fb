// What a run of all tests leaves out to stay within its time, and `LONG=1 npm test` does not.
export const isLong = process.env.LONG === '1'

/** For the `skip` of a test. */
export const longOnly = isLong ? false : 'LONG=1 npm test runs it'
