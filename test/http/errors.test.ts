// Section 7: the catalogue of errors is the table of the specification.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue, type ErrorCode, Refusal, refuse, refuseFields } from '../../src/core/errors.ts'

const section7 = `
| code | HTTP status | Condition |
|---|---|---|
| INVALID_API_KEY | 401 | Header missing or malformed (edge filter). |
| AUTH001 | 401 | API key not recognised. |
| AUTH003 | 403 | API key suspended. |
| VAL001 | 400 | Request body cannot be parsed. |
| VAL002 | 400 | Required field missing (for example packageType). |
| VAL003 | 400 | Field validation failed or an enum value is unsupported. |
| VAL004 | 400 | Request size exceeds the platform limit. |
| BUS002 | 402 | Credit balance is insufficient for the attempted operation. |
| PAYMENT_CANCEL_FAILED | 400 | Cancellation rejected. metadata echoes paymentKey and reason. |
| NOT000 | 404 | Payment not found, or it does not belong to the caller. |
| SVC001 | 503 | Payment service temporarily unavailable; the caller retries later. |
| INT001 | 500 | Unexpected server error. |`

const specified = section7
  .trim()
  .split('\n')
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, code, status]) => [code, Number(status)])

test('7: the codes are those of the specification, each with its HTTP status', () => {
  assert.deepEqual(
    Object.entries(catalogue).map(([code, { status }]) => [code, status]),
    specified,
  )
})

test('7: every code has a readable message', () => {
  for (const { message } of Object.values(catalogue)) assert.match(message, /^[A-Z].*\.$/)
})

test('a refusal carries the status of its code; only SVC001 has Retry-After', () => {
  for (const code of Object.keys(catalogue) as ErrorCode[]) {
    const refusal = refuse(code)
    assert.ok(refusal instanceof Refusal && refusal instanceof Error)
    const { message, metadata, status, retryAfterSeconds } = refusal
    assert.deepEqual({ message, metadata, status }, { ...catalogue[code], metadata: null })
    assert.equal(retryAfterSeconds, code === 'SVC001' ? 1 : null)
  }
})

test('a refusal may be more precise than the catalogue, and keeps the status', () => {
  const metadata = { paymentKey: 'pay_1', reason: 'late' }
  const refusal = refuse('PAYMENT_CANCEL_FAILED', { message: 'Already cancelled.', metadata })
  assert.deepEqual([refusal.message, refusal.metadata, refusal.status], ['Already cancelled.', metadata, 400])
})

test('VAL002 and VAL003 name the fields', () => {
  const fields = [
    { field: 'amount', rule: 'is required' },
    { field: 'orderId', rule: 'is required' },
  ]
  const refusal = refuseFields('VAL002', fields)
  assert.deepEqual(refusal.metadata, { fields })
  assert.equal(refusal.message, 'A required field is missing: amount, orderId.')
  assert.equal(refuseFields('VAL003', fields, 'No.').message, 'No.')
})
