// What the state of an order means, for support on the phone with the customer: by its status, the operation in progress, a payment
// that was captured although it failed, why it failed, and what the gateway has notified.
import type { Data } from '../../api/client.ts'
import type { Words } from '../../words/words.tsx'

type Page = Pick<Data<'order'>, 'order' | 'open' | 'story' | 'openDiscrepancies'>

export function meaningOf(page: Page, { orders: { order: words, failures } }: Words): string {
  const { order, open } = page
  const { status, failure, notified } = order
  const inProgress: Record<string, string> = words.meaningOpen
  const isPaidThere = status === 'PENDING' && notified === 'DONE'
  if (isPaidThere) return open ? words.meaningNotified.open : words.meaningNotified.alone
  const ofOpen = open && inProgress[`${status} ${open.kind}`]
  if (ofOpen) return ofOpen
  const captured = status === 'FAILED' && capturedAs(page)
  if (captured) return words.meaningCaptured[captured]
  return failure ? `${failures[failure.reason].meaning} ${words.noCredits}` : words.meaning[status]
}

const capturedForFailed = 'CAPTURED_FOR_FAILED_ORDER'

/** What became of a payment that was captured for a failed order. */
function capturedAs({ story, openDiscrepancies }: Page): keyof Words['orders']['order']['meaningCaptured'] | null {
  if (openDiscrepancies.some(({ kind }) => kind === capturedForFailed)) return 'open'
  const isReturned = story.some(
    ({ kind, detail }) => kind === 'OPERATION_ENDED' && detail.kind === 'RETURN' && detail.state === 'APPROVED',
  )
  if (isReturned) return 'returned'
  return story.some(({ detail }) => detail.kind === capturedForFailed) ? 'resolved' : null
}
