// How a captured payment was paid: what the gateway says, what orders, statements and events show, and the columns that keep it.

/** Whatever the gateway did not send is null. */
export type PaidWith = {
  /** EASY_PAY: a wallet of the payment window. */
  method: 'CARD' | 'EASY_PAY' | 'OTHER'
  /** The wallet, as the gateway names it. */
  provider: string | null
  /** KRW. The three are the amount, or null. */
  cardAmount: number | null
  walletAmount: number | null
  pointsAmount: number | null
}

/** As columns of a file and of a table. */
export type PaidColumns = Omit<{ [Name in keyof PaidWith]: PaidWith[Name] | null }, 'method' | 'provider'> & {
  paidMethod: PaidWith['method'] | null
  paidProvider: string | null
}

export function paidColumnsOf(paidWith: PaidWith | null): PaidColumns {
  const { method = null, provider = null, cardAmount = null, walletAmount = null, pointsAmount = null } = paidWith ?? {}
  return { paidMethod: method, paidProvider: provider, cardAmount, walletAmount, pointsAmount }
}
