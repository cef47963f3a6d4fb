// Applies a sabotage to the sources while they are loaded. Has to be called before the first of them is imported.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Change, Sabotage } from './sabotage.ts'

const repository = new URL('../../', import.meta.url)

/** Throws where the text does not occur exactly once: the source has changed since, and nothing would be broken. */
export function changed({ file, from, to }: Change, source: string): string {
  const [before = '', after, ...others] = source.split(from)
  if (after === undefined || others.length > 0) throw new Error(`${file} does not have "${from}" once`)
  return `${before}${to}${after}`
}

export function applySabotage({ changes }: Sabotage): void {
  const ofFile = Map.groupBy(changes, ({ file }) => new URL(file, repository).href)
  registerHooks({
    load(url, context, nextLoad) {
      const own = ofFile.get(url)
      if (!own) return nextLoad(url, context)
      const source = readFileSync(fileURLToPath(url), 'utf8')
      const broken = own.reduce((text, change) => changed(change, text), source)
      return { ...nextLoad(url, context), source: broken, shortCircuit: true }
    },
  })
}
