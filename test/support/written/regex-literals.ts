// The regular expressions of a source text: read character by character, skipping comments and strings, so that none is
// missed and no division is mistaken for one.

/** After a value a slash divides; after anything else it begins a pattern. */
const endOfValue = /[\w$)\]}'"`]$/
/** Keywords, which are not values. */
const keyword = /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|throw|await|yield|delete|new|instanceof)$/
/** Skipped as a whole; a template may contain code, which is read. */
const passed: [begin: string, whole: RegExp][] = [
  ['//', /\/\/[^\n]*/y],
  ['/*', /\/\*.*?\*\//sy],
  ["'", /'(?:[^'\\\n]|\\.)*'/sy],
  ['"', /"(?:[^"\\\n]|\\.)*"/sy],
]
const literal = /\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/y

export function regexLiterals(text: string): RegExp[] {
  const found: RegExp[] = []
  let place = 0
  /** The last characters of code before it. */
  let before = ''

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = place
    const match = pattern.exec(text)
    if (match) place = pattern.lastIndex
    return match
  }

  function readTemplate(): void {
    place += 1
    while (place < text.length && text[place] !== '`') {
      if (text.startsWith('${', place)) {
        place += 2
        readCode('}')
      } else place += text[place] === '\\' ? 2 : 1
    }
    place += 1
    before = '`'
  }

  /** To the end, or to the bracket that closes what was opened. */
  function readCode(end?: string): void {
    let depth = 0
    before = ''
    while (place < text.length) {
      const character = text[place] as string
      const skipped = passed.find(([begin]) => text.startsWith(begin, place))
      if (skipped) {
        const [match = ''] = take(skipped[1]) ?? []
        if (match === '') place += 1
        if (!match.startsWith('/')) before = '"'
      } else if (character === '`') readTemplate()
      else if (character === '/' && (!endOfValue.test(before.trimEnd()) || keyword.test(before.trimEnd()))) {
        const [, body = '', flags = ''] = take(literal) ?? []
        if (body === '') place += 1
        else found.push(new RegExp(body, flags.replace(/[gy]/g, '')))
        before = '/'
      } else {
        if (character === '{') depth += 1
        if (character === '}') {
          if (depth === 0 && end === '}') {
            place += 1
            return
          }
          depth -= 1
        }
        before = `${before}${character}`.slice(-20)
        place += 1
      }
    }
  }

  readCode()
  return found
}
