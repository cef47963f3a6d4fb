// The test cards of the checkout page and their outcomes. All but the last pass the window, and the card company's
// answer comes at confirm, as at Toss; the last one is refused in the window itself.

export const cards = {
  approve: { number: '4330 **** 0014', result: 'approve' },
  decline: { number: '4330 **** 0022', result: 'decline' },
  insufficient: { number: '4330 **** 0030', result: 'insufficient' },
  limit: { number: '4330 **** 0063', result: 'limit' },
  'expired-card': { number: '4330 **** 0071', result: 'expired-card' },
  hang: { number: '4330 **** 0048', result: 'hang' },
  refused: { number: '4330 **** 0055', result: null },
} as const

export type CardName = keyof typeof cards

export const cardNames = Object.keys(cards) as CardName[]

export function isCardName(value: unknown): value is CardName {
  return cardNames.includes(value as CardName)
}
