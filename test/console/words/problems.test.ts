// The texts of failures in both languages: why a delivery failed, as the service writes it, and of a refusal whether the action may
// have been carried out and whether the page shows an old state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems as inEnglish } from '../../../console/src/words/en/problems.ts'
import { problems as inKorean } from '../../../console/src/words/ko/problems.ts'
import { seal, unseal } from '../../../src/core/seal.ts'
import { createOutbound } from '../../../src/events/outbound.ts'
import { notSent } from '../../../src/events/resend.ts'

// The page is compiled with settings of its own, which this program does not share.
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

/** What the service itself says of a delivery, as it comes out of it. */
async function ourDeliveryErrors(): Promise<string[]> {
  const outbound = createOutbound({ allowPrivate: false, timeoutMs: 1_000 })
  const refused = [
    'http://a.example',
    'https://me@a.example',
    'https://a.example:22',
    'https://[::1]',
    'https://10.0.0.1',
  ]
  const faults = refused.map((url) => outbound.faultOf(url) ?? assert.fail(`${url} is taken`))
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

test('why an endpoint did not take an event is told in the language of the reader, with the code of the network', async () => {
  const ours = await ourDeliveryErrors()
  const known = Object.keys(inEnglish.deliveries.errors)
  for (const error of [...ours, ...known]) {
    const words = deliveryError({ problems: inKorean }, error)
    assert.match(words, hangul)
    if (/^\w+$/.test(error)) assert.ok(words.endsWith(`(${error})`), words)
  }
  const codes = known.filter((error) => /^\w+$/.test(error))
  const unsaid = known.filter((error) => !ours.includes(error) && !codes.includes(error))
  assert.deepEqual(unsaid, [], 'words for what the service does not say')
  assert.equal(deliveryError({ problems: inKorean }, 'EOFTOMORROW'), 'EOFTOMORROW')
})

test('a refusal that comes before anything is begun is told as such, and one of another state has the page look again', () => {
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
