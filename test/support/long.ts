// Tests that `npm test` skips to stay within its time, and the outer ring runs.
export const longVariable = 'LONG'
export const isLong = process.env[longVariable] === '1'

/** For the `skip` of a test. */
export const longOnly = isLong ? false : 'npm run test:outer runs it'
