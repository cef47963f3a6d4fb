// The nearest of the known words to a misspelled one, for "Did you mean …?".

/** The number of letters added, left out, replaced, or swapped with a neighbour (Damerau-Levenshtein). */
export function distanceBetween(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const steps = [at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + (isSame ? 0 : 1)]
      if (isSwap) steps.push(at(row - 2, column - 2) + 1)
      current.push(Math.min(...steps))
    }
  }
  return at(one.length, other.length)
}

/** Undefined when more than one letter in three, or in that many, is wrong: that would be a guess. */
export function nearest(typed: string, known: readonly string[], lettersPerFault = 3): string | undefined {
  const near = known.flatMap((word) => {
    const most = Math.max(1, Math.floor(Math.max(word.length, typed.length) / lettersPerFault))
    // No distance is smaller than the difference of the lengths: most words are not compared.
    if (Math.abs(word.length - typed.length) > most) return []
    const distance = distanceBetween(typed, word)
    return distance > most ? [] : [{ word, distance }]
  })
  return near.sort((first, second) => first.distance - second.distance)[0]?.word
}
