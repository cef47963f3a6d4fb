// The price of a credit: what the catalogue is made of, and what is left of an order is worth.

/** KRW. Each base credit of the catalogue costs as much; a bonus credit is free and is used after the base credits. */
export const pricePerCredit = 1_000
