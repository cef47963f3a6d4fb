// Finds the SQL in the source and the expressions in it: the template literals passed to statement() and query(), and those
// that begin like a statement, with the expressions between ${ and }.

const calls = /\b(?:statement|query)(?:<[^()]*>)?\(/g
const verbs =
  /`\s*(?:with(?: recursive)? \w+|select|insert into|update \w+\s+(?:\w+\s+)?set|delete from|create (?:or |table|database|role|index)|alter|drop|grant|revoke|truncate|lock|set \w+ =)\b/g

/** The source texts of the expressions. */
export function sqlExpressions(source: string): string[] {
  const starts = [
    ...[...source.matchAll(calls)].flatMap(({ index, 0: call }) => templatesIn(source, index + call.length)),
    ...[...source.matchAll(verbs)].map(({ index }) => index),
  ]
  return [...new Set(starts)].flatMap((start) => readTemplate(source, start).expressions)
}

/** The positions of template literals in the arguments of a call, up to its closing bracket. */
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

/** The end of a template and its expressions, from its backquote on. A template within an expression is part of it. */
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
