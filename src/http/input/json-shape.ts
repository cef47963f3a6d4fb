// Limits on valid JSON: its depth, and no duplicate names in an object. Of two equal names parsers keep the first, the last or
// both, so another program that reads the same text could see another request.

const maxDepth = 32

const signs = { quote: 34, colon: 58, openArray: 91, backslash: 92, closeArray: 93, openObject: 123, closeObject: 125 }

/** Compares the text with what it was parsed to, where only one of two equal names is left. */
export function isPlain(text: string, document: unknown): boolean {
  const names = countNames(text)
  return names !== 'too deep' && names === countKeys(document)
}

/** The text has been parsed, so every colon outside of strings follows a name. */
function countNames(text: string): number | 'too deep' {
  let names = 0
  let depth = 0
  for (let index = 0; index < text.length; index += 1) {
    const sign = text.charCodeAt(index)
    if (sign === signs.quote) {
      index = endOfString(text, index)
    } else if (sign === signs.colon) {
      names += 1
    } else if (sign === signs.openObject || sign === signs.openArray) {
      depth += 1
      if (depth > maxDepth) return 'too deep'
    } else if (sign === signs.closeObject || sign === signs.closeArray) {
      depth -= 1
    }
  }
  return names
}

/** The index of the closing quotation mark. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; ; index += 1) {
    const sign = text.charCodeAt(index)
    if (sign === signs.quote) return index
    if (sign === signs.backslash) index += 1
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let keys = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const each of Object.values(value)) keys += countKeys(each)
  return keys
}
