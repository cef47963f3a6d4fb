// Finds the SQL in the source and what is put into it: the template literals that are given to statement() and query(), and
// those that begin like a statement, with the expressions between ${ and }.

const calls = /\b(?:statement|query)(?:<[^()]*>)?\(/g
const verbs =
  /`\s*(?:with(?: recursive)? \w+|select|insert into|update \w+\s+(?:\w+\s+)?set|delete from|create (?:or |table|database|role|index)|alter|drop|grant|revoke|truncate|lock|set \w+ =)\b/g

/** The expressions, as they are written. */
export function sqlExpressions(source: string): string[] {
  const starts = [
    ...[...source.matchAll(calls)].flatMap(({ index, 0: call }) => templatesIn(source, index + call.length)),
    ...[...source.matchAll(verbs)].map(({ index }) => index),
  ]
  return [...new Set(starts)].flatMap((start) => readTemplate(source, start).expressions)
}

/** Where template literals begin among the arguments of a call, from behind its bracket to the one that closes it. */
function templatesIn(source: string, from: number): number[] {
  const found: number[] = []
  let depth = 1
  for (let place = from; place < source.length && depth > 0; place += 1) {
    const character = source[place]
    if (character === '`') {
      found.push(place)
      place = readTemplate(source, place).end
    } else if (character === `'`) place = source.indexOf(`'`, place + 1)
    else if (character === '(') depth += 1
    else if (character === ')') depth -= 1
  }
  return found
}

/** From its backquote: where it ends, and what is put into it. A template within an expression is part of it. */
function readTemplate(source: string, start: number): { end: number; expressions: string[] } {
  const expressions: string[] = []
  let place = start + 1
  while (place < source.length && source[place] !== '`') {
    if (source[place] === '\\') place += 1
    else if (source.startsWith('${', place)) {
      const end = endOfExpression(source, place + 2)
      expressions.push(source.slice(place + 2, end).trim())
      place = end
    }
    place += 1
  }
  return { end: place, expressions }
}

function endOfExpression(source: string, from: number): number {
  let depth = 1
  let place = from
  for (; place < source.length; place += 1) {
    const character = source[place]
    if (character === '`') place = readTemplate(source, place).end
    else if (character === '{') depth += 1
    else if (character === '}') depth -= 1
    if (depth === 0) break
  }
  return place
}
