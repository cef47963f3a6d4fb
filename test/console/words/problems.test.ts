// The texts of failures in both languages: why a delivery failed, as the service writes it, and, for a refusal, whether the
// action may have been carried out and whether the page shows an outdated state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems as inEnglish } from '../../../console/src/words/en/problems.ts'
import { problems as inKorean } from '../../../console/src/words/ko/problems.ts'
import { seal, unseal } from '../../../src/core/seal.ts'
import { createOutbound } from '../../../src/events/outbound.ts'
import { notSent } from '../../../src/events/resend.ts'

// The page is compiled with its own settings, which differ from those of this program.
const { deliveryError } = (await import('../../../console/src/pages/order/timeline/delivery-error.ts' as string)) as {
  deliveryError(words: object, error: string): string
}
const { mayHaveHappened, isStateOutdated } = (await import('../../../console/src/api/hooks.ts' as string)) as Record<
  'mayHaveHappened' | 'isStateOutdated',
  (error: Error) => boolean
>
const { ApiError } = (await import('../../../console/src/api/client.ts' as string)) as {
  ApiError: new (status: number, code: string, message: string, metadata?: object) => Error
}

const hangul = /[가-힣]/

/** The delivery errors that the service itself writes, produced by its own code. */
async function ourDeliveryErrors(): Promise<string[]> {
  const outbound = createOutbound({ allowPrivate: false, timeoutMs: 1_000 })
  const refused = [
    'http://a.example',
    'https://me@a.example',
    'https://a.example:22',
    'https://[::1]',
    'https://10.0.0.1',
  ]
  const faults = refused.map((url) => outbound.faultOf(url) ?? assert.fail(`${url} is accepted`))
  await outbound.close()
  const sealed = seal('whsec_1', 'end_1', { version: 3, secret: 'one' })
  const unsealings = [[], [{ version: 3, secret: 'another' }]].map((secrets) => {
    try {
      return unseal(sealed, 'end_1', secrets)
    } catch (error) {
      return (error as Error).message
    }
  })
  return [...Object.values(notSent), ...faults, ...unsealings, 'HTTP 503']
}

test('the cause of a failed delivery is shown in the language of the reader, with the network error code', async () => {
  const ours = await ourDeliveryErrors()
  const known = Object.keys(inEnglish.deliveries.errors)
  for (const error of [...ours, ...known]) {
    const words = deliveryError({ problems: inKorean }, error)
    assert.match(words, hangul)
    if (/^\w+$/.test(error)) assert.ok(words.endsWith(`(${error})`), words)
  }
  const codes = known.filter((error) => /^\w+$/.test(error))
  const unused = known.filter((error) => !ours.includes(error) && !codes.includes(error))
  assert.deepEqual(unused, [], 'texts for errors that the service does not write')
  assert.equal(deliveryError({ problems: inKorean }, 'EOFTOMORROW'), 'EOFTOMORROW')
})

test('a refusal before anything has begun is shown as such, and one because of another state makes the page reload', () => {
  const refusal = (status: number, metadata = {}) => new ApiError(status, 'SVC001', 'No.', metadata)
  const [busy, others, open] = ['console busy', 'other days', 'open'].map((reason) =>
    refusal(503, { reason, began: false }),
  )
  const resolved = refusal(404, { reason: 'resolved' })
  const doubtful = [refusal(503), refusal(503, { reason: 'open' }), refusal(503, { began: true }), refusal(0)]
  const resultsOf = (errors: (Error | undefined)[], check: (error: Error) => boolean) =>
    errors.map((error) => check(error ?? assert.fail()))
  assert.deepEqual(resultsOf([busy, others, open, resolved], mayHaveHappened), [false, false, false, false])
  assert.deepEqual(resultsOf(doubtful, mayHaveHappened), [true, true, true, true])
  assert.deepEqual(resultsOf([busy, others, open, resolved], isStateOutdated), [false, false, true, true])
})
