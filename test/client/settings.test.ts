// What a client can be made with: mistakes show when it is made, no message contains a key, and pauses are as long as they
// have to be and no longer than they may.
import assert from 'node:assert/strict'
import { afterEach, describe, mock, test } from 'node:test'
import { createCreditsClient, createSpendingClient, isCreditsError } from '../../client/src/index.ts'
import { pauseBefore, retryAfterMs } from '../../client/src/pauses.ts'

const apiKey = 'cpk_secret_of_the_test'

describe('the address', () => {
  async function askedAt(baseUrl: string): Promise<string> {
    let asked = ''
    const fetch = async (url: string) => {
      asked = url
      return new Response('')
    }
    await createCreditsClient({ baseUrl, fetch })
      .getCreditBalance()
      .catch(() => undefined)
    return asked
  }

  test('may have a path, and a slash at its end', async () => {
    const path = '/public/v1/payments/credits'
    assert.equal(await askedAt('https://api.example'), `https://api.example${path}`)
    assert.equal(await askedAt('https://api.example:8443//'), `https://api.example:8443${path}`)
    assert.equal(await askedAt('https://shop.example/credits-proxy/'), `https://shop.example/credits-proxy${path}`)
  })

  test('that cannot be one is refused', () => {
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
  test('that cannot be sent are refused, and not repeated', () => {
    for (const end of ['\n', ' x', '키', '']) {
      const secret = end && `${apiKey}${end}`
      const makes = [
        () => createCreditsClient({ baseUrl: 'http://x', apiKey: secret }),
        () => createSpendingClient({ baseUrl: 'http://x', token: secret }),
      ]
      for (const make of makes) {
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

  test('are in no error, however much of it is shown', async () => {
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

  test('are the last word on their header, and other headers go along', async () => {
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

test('limits are whole numbers in their range, of the client and of a call', async () => {
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    for (const name of ['timeoutMs', 'settleTimeoutMs', 'deadlineMs', 'maxAttempts']) {
      const make = () => createCreditsClient({ baseUrl: 'http://x', [name]: value })
      assert.throws(make, new RegExp(`^RangeError: ${name}: `), `${name} ${value}`)
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

  test('is the global one of the moment', async () => {
    const client = createCreditsClient({ baseUrl: 'http://x' })
    const replaced = mock.method(globalThis, 'fetch', async () => new Response(''))
    await client.getCreditBalance().catch(() => undefined)
    assert.equal(replaced.mock.callCount(), 1)
  })
})

describe('pauses', () => {
  const limits = { firstPauseMs: 250, longestPauseMs: 5_000 }

  test('are anywhere between nothing and a ceiling that doubles up to its limit', () => {
    const longest = [2, 3, 4, 5, 6, 7, 8].map((attempt) => pauseBefore(attempt, null, limits, 1))
    assert.deepEqual(longest, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000])
    assert.equal(pauseBefore(5, null, limits, 0), 0)
    assert.equal(pauseBefore(5, null, limits, 0.5), 1_000)
  })

  test('are spread behind what the service has asked for, never before it', () => {
    assert.equal(pauseBefore(2, 3_000, limits, 0), 3_000)
    assert.equal(pauseBefore(2, 3_000, limits, 1), 3_250)
  })

  test('Retry-After is seconds or a date; anything else is nothing', () => {
    const now = Date.parse('2026-11-15T12:00:00Z')
    assert.equal(retryAfterMs('2', now), 2_000)
    assert.equal(retryAfterMs('Sun, 15 Nov 2026 12:00:05 GMT', now), 5_000)
    assert.equal(retryAfterMs('Sun, 15 Nov 2026 11:00:00 GMT', now), 0)
    for (const value of [null, '', 'soon']) assert.equal(retryAfterMs(value, now), null)
  })
})
