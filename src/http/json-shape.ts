// What a JSON text may be beyond being one: no deeper than anybody needs, and no name twice in an object. Parsers keep the
// first, the last or both of two equal names; whoever reads the same text with another one would see another request.

const maxDepth = 32
const blank = 32

/** Of a text that was parsed: everything is where it belongs, and only strings and brackets have to be told apart. */
export function isPlain(text: string): boolean {
  /** The names of each object that is open; null for an array. */
  const open: (Set<string> | null)[] = []
  for (let place = 0; place < text.length; place += 1) {
    const sign = text[place]
    if (sign === '{' || sign === '[') {
      if (open.length === maxDepth) return false
      open.push(sign === '{' ? new Set() : null)
    } else if (sign === '}' || sign === ']') {
      open.pop()
    } else if (sign === '"') {
      const end = endOfString(text, place)
      if (isName(text, end)) {
        const names = open.at(-1) as Set<string>
        const name: string = JSON.parse(text.slice(place, end + 1))
        if (names.has(name)) return false
        names.add(name)
      }
      place = end
    }
  }
  return true
}

/** Where the quotation mark is that ends the string which begins there. */
function endOfString(text: string, start: number): number {
  for (let place = start + 1; ; place += 1) {
    if (text[place] === '"') return place
    if (text[place] === '\\') place += 1
  }
}

function isName(text: string, end: number): boolean {
  let place = end + 1
  // Of what is left after parsing, only blanks come before it.
  while (text.charCodeAt(place) <= blank) place += 1
  return text[place] === ':'
}
