// The header TossPayments-Test-Code: with a test key any error can be requested by name, whatever the request is. It
// comes before everything but authentication: nothing is read, done or stored. Live keys ignore it.

import { type ErrorAnswer, errorAnswer, isErrorCode } from './errors.ts'

export const testCodeHeader = 'tosspayments-test-code'

export function requestedError(header: string | string[] | undefined, secretKey: string): ErrorAnswer | null {
  const code = String(header ?? '')
  if (code === '' || !secretKey.startsWith('test_')) return null
  return errorAnswer(isErrorCode(code) ? code : 'INVALID_TEST_CODE')
}
