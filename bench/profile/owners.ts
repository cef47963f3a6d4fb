// Whose code a frame is, by where it comes from.
import type { Colour } from '../report/svg.ts'
import type { CallFrame } from './cpu-profile.ts'

export type Owner = 'ours' | 'framework' | 'driver' | 'undici' | 'Node' | 'native and gc'

export const ownerColours: Record<Owner, Colour> = {
  ours: 'blue',
  framework: 'amber',
  driver: 'green',
  undici: 'paleAmber',
  Node: 'paleBlue',
  'native and gc': 'grey',
}

/** The first match. Most of the rest of node_modules belongs to Fastify. */
const places: { pattern: RegExp; owner: Owner }[] = [
  { pattern: /\/node_modules\/(pg|pg-[a-z-]+|postgres-[a-z-]+|pgpass)\//, owner: 'driver' },
  { pattern: /\/node_modules\/undici\/|^wasm:/, owner: 'undici' },
  { pattern: /\/node_modules\//, owner: 'framework' },
  { pattern: /^node:/, owner: 'Node' },
  { pattern: /^file:/, owner: 'ours' },
]

/** The script id of code that is built into the engine. */
const noScript = '0'

export function ownerOf({ url, scriptId }: Pick<CallFrame, 'url' | 'scriptId'>): Owner {
  const found = places.find(({ pattern }) => pattern.test(url))
  if (found) return found.owner
  // A script without a URL was generated at run time: validators, serializers and routes of the framework.
  return scriptId === noScript ? 'native and gc' : 'framework'
}
