// Section 8 and row 8 of the decisions: VAL004 for a request that is too large, and the answer reaches the caller.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { head, sendBeforeReading, sendRaw } from '../../harness/raw-http.ts'
import { assertRefused, startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

let service: TestService
let customer: TestCustomer
const bodyLimitBytes = 16_384
before(async () => {
  service = await startTestService()
  customer = await service.newCustomer()
})
after(() => service.close())

const base = '/public/v1/payments'
const json = { 'content-type': 'application/json' }
const withKey = () => ({ 'service-api-key': customer.apiKey })

/** A valid purchase of exactly this many bytes. */
function purchaseOf(bytes: number): Buffer {
  const text = '{"packageType":"BASIC"}'
  return Buffer.concat([Buffer.from(text), Buffer.alloc(bytes - text.length, ' ')])
}

async function countOrders(): Promise<number> {
  return (await service.database.query('select from orders')).length
}

test('8: a body of exactly the size limit is accepted, one byte more is VAL004, by Content-Length and chunked', async () => {
  const orders = await countOrders()
  for (const [bytes, code] of [
    [bodyLimitBytes, 'SUCCESS'],
    [bodyLimitBytes + 1, 'VAL004'],
  ] as const) {
    const body = purchaseOf(bytes)
    const known = head(`POST ${base}/purchase`, { ...withKey(), ...json, 'content-length': bytes })
    assert.equal((await sendRaw(service.port, Buffer.concat([Buffer.from(known), body]))).body.code, code)
    const chunked = head(`POST ${base}/purchase`, { ...withKey(), ...json, 'transfer-encoding': 'chunked' })
    const text = `${chunked}${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    assert.equal((await sendRaw(service.port, text)).body.code, code)
  }
  assert.equal(await countOrders(), orders + 2)
})

test('8: a Content-Length above the limit is VAL004 at once, before a byte of the body', async () => {
  const start = head(`POST ${base}/purchase`, { ...withKey(), ...json, 'content-length': 9_000_000_000 })
  assertRefused(await sendRaw(service.port, start), 'VAL004')
})

test('8: a caller that is still sending gets its VAL004, and its 401, every time', async () => {
  const piece = Buffer.alloc(32 * 1024, ' ')
  const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
  const forms = [
    { headers: { 'content-length': piece.length * 24 }, piece, end: '' },
    { headers: { 'transfer-encoding': 'chunked' }, piece: chunk, end: '0\r\n\r\n' },
  ]
  for (const form of forms) {
    for (const [key, code] of [
      [withKey(), 'VAL004'],
      [{}, 'INVALID_API_KEY'],
    ] as const) {
      const start = head(`POST ${base}/purchase`, { ...key, ...json, ...form.headers })
      const pieces = [...Array.from({ length: 24 }, () => form.piece), Buffer.from(form.end)]
      for (let round = 0; round < 10; round += 1) {
        const answers = await Promise.all([1, 2, 3].map(() => sendBeforeReading(service.port, start, pieces)))
        for (const answer of answers) assertRefused(answer, code)
      }
    }
  }
})

test('8: headers above the limit are VAL004, and so is a request target above it', async () => {
  const long = 'x'.repeat(20_000)
  const requests = [
    head(`GET ${base}/credits`, { ...withKey(), 'x-long': long }),
    head(`GET ${base}/credits`, { 'service-api-key': long }),
    head(`GET ${base}/${long}`, withKey()),
    head(`POST ${base}/purchase`, {
      ...withKey(),
      ...json,
      ...Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`x-${index}`, 'y'.repeat(60)])),
    }),
  ]
  for (const request of requests) assertRefused(await sendRaw(service.port, request), 'VAL004')
})
