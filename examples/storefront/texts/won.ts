// Amounts of money, written the same in both languages.

export function formatWon(amount: number): string {
  return `₩${amount.toLocaleString('en-US')}`
}
