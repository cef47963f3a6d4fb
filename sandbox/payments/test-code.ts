// The header TossPayments-Test-Code: with a test key any error can be asked for by name, whatever the request is about.
// It comes before everything but authentication: nothing is looked at, done or remembered. Live keys ignore it.

import { type ErrorAnswer, errorAnswer, isErrorCode } from './errors.ts'

export const testCodeHeader = 'tosspayments-test-code'

export function demandedError(header: string | string[] | undefined, secretKey: string): ErrorAnswer | null {
  const code = String(header ?? '')
  if (code === '' || !secretKey.startsWith('test_')) return null
  return errorAnswer(isErrorCode(code) ? code : 'INVALID_TEST_CODE')
}
