// Breaks guards. Exports get their broken form at the end of their module, so that calls within it have it too; statements when
// all are defined. Has to be called before the first source is imported.
import { registerHooks } from 'node:module'
import type { Change, Guard } from './guard.ts'

const sources = new URL('../../src/', import.meta.url).href
const database = new URL('db/database.ts', sources).href

type Form = (original: unknown) => unknown

const forms = new Map<string, Form[]>()
const originals = new Map<string, unknown>()

/** Called by the modules that export one of the names. */
export function brokenFormOf(name: string, original: unknown): unknown {
  originals.set(name, original)
  return (forms.get(name) ?? []).reduce((form, broken) => changed(name, form, broken), original)
}

function changed<Original>(name: string, original: Original, broken: Form): Original {
  const form = broken(original)
  if (form === original) throw new Error(`${name} is not broken`)
  return form as Original
}

/** The source with the broken form of an exported function or constant; undefined: it does not export the name. */
function sourceWith(name: string, source: string): string | undefined {
  const declared = new RegExp(`^export (async function|function|const) ${name}\\b`, 'm')
  if (!declared.test(source)) return undefined
  const text = source.replace(declared, (all) => all.replace('const', 'let'))
  return `${text}\nimport { brokenFormOf as formOf_${name} } from '${import.meta.url}'\n${name} = formOf_${name}('${name}', ${name})\n`
}

function breakStatements(change: Change, texts: Map<string, { text: string }>): void {
  if ('exported' in change) return
  const broken = change.broken as Form
  if ('statement' in change) {
    const found = texts.get(change.statement)
    if (!found) throw new Error(`there is no statement ${change.statement}`)
    found.text = changed(change.statement, found.text, broken)
    return
  }
  const part = originals.get(change.fragment) as string
  const among = change.in === undefined ? [...texts.values()] : [texts.get(change.in)]
  const found = among.filter((each) => each !== undefined).filter(({ text }) => text.includes(part))
  if (found.length === 0) throw new Error(`no statement has ${change.fragment}`)
  const form = changed(change.fragment, part, broken)
  for (const each of found) each.text = each.text.replaceAll(part, () => form)
}

/** To be called when all sources are imported; throws where a guard could not be broken. */
export type Finish = () => Promise<void>

export function breakGuards(guards: Guard[]): Finish {
  const changes = guards.flatMap((guard) => guard.changes)
  const names = new Set<string>()
  for (const change of changes) {
    if ('exported' in change) forms.set(change.exported, [...(forms.get(change.exported) ?? []), change.broken as Form])
    if ('exported' in change) names.add(change.exported)
    if ('fragment' in change) names.add(change.fragment)
  }
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.startsWith(sources) || !loaded.source) return loaded
      const source = [...names].reduce((text, name) => sourceWith(name, text) ?? text, String(loaded.source))
      return { ...loaded, source }
    },
  })
  return async () => {
    for (const name of names) if (!originals.has(name)) throw new Error(`no source exports ${name}`)
    const { definedStatements } = await import(database)
    for (const change of changes) breakStatements(change, definedStatements)
  }
}
