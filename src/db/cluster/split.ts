// Splits SQL text into its statements: at semicolons outside of quotes, dollar quotes and comments. A body in `begin atomic` has
// such semicolons too: test/support/database/migration-rules.ts refuses it.

/** Alternatives, in order: blanks or a comment to the end of the line; the start of a block comment; quotes; a name; any character. */
const part =
  /(\s+|--[^\n]*)|(\/\*)|[eE]'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|\$((?:[\p{L}_][\p{L}\w]*)?)\$.*?\$\3\$|[\p{L}_][\p{L}\w$]*|./suy

export function splitStatements(text: string): string[] {
  const statements: string[] = []
  let start = 0
  let isEmpty = true
  function end(at: number): void {
    if (!isEmpty) statements.push(text.slice(start, at).trim())
    isEmpty = true
  }
  for (let at = 0; at < text.length; at = part.lastIndex) {
    part.lastIndex = at
    const [found = '', blank, comment] = part.exec(text) ?? []
    if (comment) part.lastIndex = endOfComment(text, at)
    if (found === ';') {
      end(at)
      start = part.lastIndex
    } else if (!blank && !comment) isEmpty = false
  }
  end(text.length)
  return statements
}

/** Block comments nest. */
function endOfComment(text: string, start: number): number {
  let depth = 0
  for (const { 0: mark, index } of text.slice(start).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1
    if (depth === 0) return start + index + mark.length
  }
  return text.length
}
