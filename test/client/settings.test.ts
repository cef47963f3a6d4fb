// The settings of a client: mistakes are reported when it is created, no message contains a key, and pauses are within
// their limits.
import assert from 'node:assert/strict'
import { afterEach, describe, mock, test } from 'node:test'
import { createCreditsClient, createSpendingClient, isCreditsError } from '../../client/src/index.ts'
import { pauseBefore, retryAfterMs } from '../../client/src/pauses.ts'

const apiKey = 'cpk_secret_of_the_test'

describe('the address', () => {
  async function requestedUrl(baseUrl: string): Promise<string> {
    let requested = ''
    const fetch = async (url: string) => {
      requested = url
      return new Response('')
    }
    await createCreditsClient({ baseUrl, fetch })
      .getCreditBalance()
      .catch(() => undefined)
    return requested
  }

  test('may have a path, and a trailing slash', async () => {
    const path = '/public/v1/payments/credits'
    assert.equal(await requestedUrl('https://api.example'), `https://api.example${path}`)
    assert.equal(await requestedUrl('https://api.example:8443//'), `https://api.example:8443${path}`)
    assert.equal(await requestedUrl('https://shop.example/credits-proxy/'), `https://shop.example/credits-proxy${path}`)
  })

  test('is refused when it is malformed', () => {
    const wrong = [
      '',
      '/api',
      'api.example',
      'ftp://api.example',
      'https://a:b@api.example',
      'https://x/?a=1',
      'https://x/#a',
    ]
    for (const baseUrl of wrong) assert.throws(() => createCreditsClient({ baseUrl }), /^TypeError: baseUrl: /, baseUrl)
  })
})

describe('keys', () => {
  test('that cannot be sent are refused, and not included in the message', () => {
    for (const end of ['\n', ' x', '키', '']) {
      const secret = end && `${apiKey}${end}`
      const constructors = [
        () => createCreditsClient({ baseUrl: 'http://x', apiKey: secret }),
        () => createSpendingClient({ baseUrl: 'http://x', token: secret }),
      ]
      for (const make of constructors) {
        assert.throws(make, (error: Error) => error instanceof TypeError && !error.message.includes(apiKey))
      }
    }
    const headers = { 'x-session': `${apiKey}\nx: y` }
    const make = () => createCreditsClient({ baseUrl: 'http://x', headers })
    assert.throws(
      make,
      (error: Error) => /^headers: "x-session"/.test(error.message) && !error.message.includes(apiKey),
    )
  })

  test('that are given and undefined are refused: the environment lacks a variable', () => {
    assert.throws(
      () => createCreditsClient({ baseUrl: 'http://x', apiKey: undefined }),
      /^TypeError: apiKey: is given, /,
    )
    const make = () => createSpendingClient({ baseUrl: 'http://x', token: undefined as unknown as string })
    assert.throws(make, /^TypeError: token: is given, /)
    createCreditsClient({ baseUrl: 'http://x' })
  })

  test('are in no error, even in its full inspection', async () => {
    const fetch = async () => {
      throw new TypeError('fetch failed')
    }
    const client = createCreditsClient({ baseUrl: 'http://x', apiKey, fetch, maxAttempts: 1 })
    const error = await client.getCreditBalance().catch((reason: unknown) => reason)
    assert.ok(isCreditsError(error))
    const { inspect } = await import('node:util')
    const shown = `${inspect(error, { depth: 9, showHidden: true })}${JSON.stringify(error)}${error.stack}`
    assert.equal(shown.includes(apiKey), false)
  })

  test('override a custom header of the same name, and other headers are sent too', async () => {
    let sent: RequestInit['headers']
    const fetch = async (_url: string, init: RequestInit) => {
      sent = init.headers
      return new Response('')
    }
    const headers = { 'Service-Api-Key': 'another', 'X-Tenant': 'acme' }
    await createCreditsClient({ baseUrl: 'http://x', apiKey, headers, fetch })
      .getCreditBalance()
      .catch(() => undefined)
    assert.deepEqual(sent, { 'service-api-key': apiKey, 'x-tenant': 'acme' })
  })
})

test('limits must be whole numbers in their range, where a pause alone may be zero, for the client and for a call', async () => {
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    for (const name of ['timeoutMs', 'settleTimeoutMs', 'deadlineMs', 'maxAttempts']) {
      const make = () => createCreditsClient({ baseUrl: 'http://x', [name]: value })
      assert.throws(make, new RegExp(`^RangeError: ${name}: `), `${name} ${value}`)
    }
    for (const name of ['firstPauseMs', 'longestPauseMs']) {
      const make = () => createCreditsClient({ baseUrl: 'http://x', [name]: value })
      if (value === 0) make()
      else assert.throws(make, new RegExp(`^RangeError: ${name}: `), `${name} ${value}`)
    }
    const client = createCreditsClient({ baseUrl: 'http://x' })
    await assert.rejects(client.getCreditBalance({ deadlineMs: value }), RangeError)
  }
})

test('an idempotency key that the service would refuse is refused before it is sent', async () => {
  const client = createCreditsClient({ baseUrl: 'http://127.0.0.1:1' })
  for (const idempotencyKey of ['', 'a b', '주문', 'x'.repeat(256), 'a\n']) {
    await assert.rejects(
      client.purchaseCredits({ packageType: 'BASIC' }, { idempotencyKey }),
      /^TypeError: idempotencyKey: /,
    )
  }
})

describe('fetch', () => {
  afterEach(() => mock.restoreAll())

  test('is the global one at the time of the call', async () => {
    const client = createCreditsClient({ baseUrl: 'http://x' })
    const replaced = mock.method(globalThis, 'fetch', async () => new Response(''))
    await client.getCreditBalance().catch(() => undefined)
    assert.equal(replaced.mock.callCount(), 1)
  })

  test('uses no cache and follows no redirect', async () => {
    const replaced = mock.method(globalThis, 'fetch', async (_url: string, _init: RequestInit) => new Response(''))
    await createCreditsClient({ baseUrl: 'http://x' })
      .getCreditBalance()
      .catch(() => undefined)
    const { cache, redirect } = replaced.mock.calls[0]?.arguments[1] ?? {}
    assert.deepEqual([cache, redirect], ['no-store', 'manual'])
  })
})

describe('pauses', () => {
  const limits = { firstPauseMs: 250, longestPauseMs: 5_000 }

  test('are random between zero and a ceiling that doubles up to its limit', () => {
    const longest = [2, 3, 4, 5, 6, 7, 8].map((attempt) => pauseBefore(attempt, null, limits, 1))
    assert.deepEqual(longest, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000])
    assert.equal(pauseBefore(5, null, limits, 0), 0)
    assert.equal(pauseBefore(5, null, limits, 0.5), 1_000)
  })

  test('are spread after the Retry-After of the service, never before it', () => {
    assert.equal(pauseBefore(2, 3_000, limits, 0), 3_000)
    assert.equal(pauseBefore(2, 3_000, limits, 1), 3_250)
  })

  test('Retry-After is seconds or a date; anything else is ignored', () => {
    const now = Date.parse('2026-11-15T12:00:00Z')
    assert.equal(retryAfterMs('2', now), 2_000)
    assert.equal(retryAfterMs('Sun, 15 Nov 2026 12:00:05 GMT', now), 5_000)
    assert.equal(retryAfterMs('Sun, 15 Nov 2026 11:00:00 GMT', now), 0)
    for (const value of [null, '', 'soon']) assert.equal(retryAfterMs(value, now), null)
  })
})
