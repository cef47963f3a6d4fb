// The platform's sibling services: they spend credits under references of their own and ask again until they are told
// what became of each. Behind one function, `spendOnce`, so that the way to the ledger can be another one day.
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../src/core/errors.ts'
import type { SpendInput, SpendOutput } from '../src/credits/ledger.ts'
import type { History } from './history.ts'
import type { Customer, Shop } from './shop.ts'

export type Spend = {
  customer: number
  reference: string
  credits: number
  invokedAtMs: number
  /** When the first answer came; null while there is none. */
  endedAtMs: number | null
  /** Each definite answer: what the reference has spent by then. */
  answers: number[]
}

const pauseMs = 250

export type Spender = ReturnType<typeof createSpender>

export function createSpender(shop: Shop, history: History, stopped: AbortSignal) {
  const spends: Spend[] = []
  const wrong: string[] = []
  const underWay = new Set<Promise<void>>()
  let attempts = 0

  /** Throws when the outcome is not known. */
  async function spendOnce(input: SpendInput): Promise<SpendOutput> {
    attempts += 1
    return shop.ledger.spend(input)
  }

  async function untilDefinite(spend: Spend, input: SpendInput): Promise<void> {
    while (!stopped.aborted) {
      try {
        const { spent } = await spendOnce(input)
        spend.answers.push(spent)
        spend.endedAtMs ??= history.nowMs()
        history.note('spent', { reference: input.reference, spent })
        return
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'SVC001')) {
          wrong.push(`${input.reference}: ${(error as Error).message}`)
          return
        }
        await sleep(pauseMs)
      }
    }
  }

  return {
    spends,
    /** Answers that no spend may have. */
    wrong,
    attempts: () => attempts,
    /** Not waited for: a sibling service has its own pace. */
    spend({ index: customer, customerId }: Customer, credits: number, copies: number): void {
      const reference = `spend-${spends.length + 1}`
      const invokedAtMs = history.nowMs()
      const spend: Spend = { customer, reference, credits, invokedAtMs, endedAtMs: null, answers: [] }
      spends.push(spend)
      history.note('spend', { customer, reference, credits, copies })
      for (let copy = 0; copy < copies; copy += 1) {
        const asked = untilDefinite(spend, { customerId, credits, reference })
        underWay.add(asked)
        asked.then(() => underWay.delete(asked))
      }
    },
    finish: async () => {
      await Promise.all(underWay)
    },
  }
}
