// Breaks guards. An export gets its broken form at the end of its module, so that calls within it have it too; statements when all
// are defined.
import { registerHooks } from 'node:module'
import type { Change, Guard } from './guard.ts'

const sources = new URL('../../src/', import.meta.url).href
const database = new URL('db/database.ts', sources).href

let changes: Change[] = []
const originals = new Map<string, unknown>()

function formOf<Original>(original: Original, { name, broken }: Change): Original {
  const form = broken(original) as Original
  if (form === original) throw new Error(`${name} is not broken`)
  return form
}

/** Called by the modules that export one of the names. */
export function brokenForm(name: string, original: unknown): unknown {
  originals.set(name, original)
  return changes.filter((change) => change.of === 'export' && change.name === name).reduce(formOf, original)
}

/** Where the source exports the name, with its broken form. */
function sourceWith(source: string, name: string): string {
  const declared = new RegExp(`^export (async function|function|const) ${name}\\b`, 'm')
  if (!declared.test(source)) return source
  return `${source.replace(declared, (all) => all.replace('const', 'let'))}
import { brokenForm as formOf_${name} } from '${import.meta.url}'
${name} = formOf_${name}('${name}', ${name})`
}

function breakStatements(change: Change, statements: { name: string; text: string }[]): void {
  const { of, name, only } = change
  const part = of === 'fragment' ? (originals.get(name) as string) : undefined
  const wanted = part === undefined ? name : only
  const found = statements.filter((each) => (wanted ?? each.name) === each.name && each.text.includes(part ?? ''))
  if (found.length === 0) throw new Error(`no statement is or has ${name}`)
  for (const each of found) {
    each.text = part === undefined ? formOf(each.text, change) : each.text.replaceAll(part, () => formOf(part, change))
  }
}

/** To be called before the first source is imported; what it returns when all are: that throws where a guard is not broken. */
export function breakGuards(guards: Guard[]): () => Promise<void> {
  changes = guards.flatMap((guard) => guard.changes)
  const names = new Set(changes.flatMap(({ of, name }) => (of === 'statement' ? [] : name)))
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.startsWith(sources) || !loaded.source) return loaded
      return { ...loaded, source: [...names].reduce(sourceWith, String(loaded.source)) }
    },
  })
  return async () => {
    for (const name of names) if (!originals.has(name)) throw new Error(`no source exports ${name}`)
    const { definedStatements } = await import(database)
    for (const change of changes) if (change.of !== 'export') breakStatements(change, [...definedStatements.values()])
  }
}
