// What the state of an order means, for support on the phone with the customer: by its status, the operation in progress, why it
// failed, and what the gateway has notified.
import type { Data } from '../../api/client.ts'
import type { Words } from '../../words/words.tsx'

type Page = Pick<Data<'order'>, 'order' | 'open'>

export function meaningOf({ order, open }: Page, { orders: { order: words, failures } }: Words): string {
  const { status, failure, notified } = order
  const inProgress: Record<string, string> = words.meaningOpen
  const isPaidThere = status === 'PENDING' && notified === 'DONE'
  if (isPaidThere) return open ? words.meaningNotified.open : words.meaningNotified.alone
  const ofOpen = open && inProgress[`${status} ${open.kind}`]
  if (ofOpen) return ofOpen
  return failure ? `${failures[failure.reason].meaning} ${words.noCredits}` : words.meaning[status]
}
