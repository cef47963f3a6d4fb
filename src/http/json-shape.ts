// What a JSON text may be beyond being one: no deeper than anybody needs, and no name twice in an object. Parsers keep the
// first, the last or both of two equal names; whoever reads the same text with another one would see another request.

const maxDepth = 32

const signs = { quote: 34, colon: 58, openArray: 91, backslash: 92, closeArray: 93, openObject: 123, closeObject: 125 }

/** Of a text and what it was parsed to: of equal names only one is left there. */
export function isPlain(text: string, document: unknown): boolean {
  const names = countNames(text)
  return names !== 'too deep' && names === countKeys(document)
}

/** Of a text that was parsed: everything is where it belongs, and a colon outside of strings stands behind a name. */
function countNames(text: string): number | 'too deep' {
  let names = 0
  let depth = 0
  for (let place = 0; place < text.length; place += 1) {
    const sign = text.charCodeAt(place)
    if (sign === signs.quote) {
      place = endOfString(text, place)
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

/** Where the quotation mark is that ends the string which begins there. */
function endOfString(text: string, start: number): number {
  for (let place = start + 1; ; place += 1) {
    const sign = text.charCodeAt(place)
    if (sign === signs.quote) return place
    if (sign === signs.backslash) place += 1
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let keys = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const each of Object.values(value)) keys += countKeys(each)
  return keys
}
