// Reads a .cpuprofile of V8 into a tree of frames merged from the root, each with its total time and its self time.
// Idle time is left out.
import { type Owner, ownerOf } from './owners.ts'

export type CallFrame = { functionName: string; scriptId: string; url: string; lineNumber: number }

type ProfileNode = { id: number; callFrame: CallFrame; children?: number[] }

/** Times in microseconds. A sample lasts until the next one. */
export type CpuProfile = { nodes: ProfileNode[]; samples: number[]; timeDeltas: number[] }

export type Frame = {
  name: string
  /** File and line; empty for code that is not in a file. */
  place: string
  owner: Owner
  micros: number
  selfMicros: number
  children: Frame[]
}

const idle = '(idle)'

/** Without the samples of the first microseconds: the start. */
export function mergeFrames({ nodes, samples, timeDeltas }: CpuProfile, leftOutMicros: number): Frame {
  const selfMicros = selfMicrosOf(samples, timeDeltas, leftOutMicros)
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const [root] = nodes
  if (!root) throw new Error('the profile is empty')

  function merge(frame: CallFrame, same: ProfileNode[]): Frame {
    const below = same
      .flatMap(({ children = [] }) => children.flatMap((id) => byId.get(id) ?? []))
      .filter(({ callFrame }) => callFrame.functionName !== idle)
    const groups = Map.groupBy(below, ({ callFrame }) => keyOf(callFrame))
    const children = [...groups.values()]
      .map((group) => merge((group[0] as ProfileNode).callFrame, group))
      .filter(({ micros }) => micros > 0)
      .sort((left, right) => right.micros - left.micros)
    const own = same.reduce((sum, { id }) => sum + (selfMicros.get(id) ?? 0), 0)
    const micros = children.reduce((sum, child) => sum + child.micros, own)
    return { ...describe(frame), micros, selfMicros: own, children }
  }
  return merge(root.callFrame, [root])
}

function selfMicrosOf(samples: number[], timeDeltas: number[], leftOutMicros: number): Map<number, number> {
  const found = new Map<number, number>()
  let at = 0
  samples.forEach((id, index) => {
    at += timeDeltas[index] ?? 0
    if (at >= leftOutMicros) found.set(id, (found.get(id) ?? 0) + Math.max(0, timeDeltas[index + 1] ?? 0))
  })
  return found
}

function keyOf({ functionName, scriptId, lineNumber }: CallFrame): string {
  return `${functionName} ${scriptId} ${lineNumber}`
}

function describe(frame: CallFrame): Pick<Frame, 'name' | 'place' | 'owner'> {
  const { functionName, url, lineNumber } = frame
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^file:.*\/((?:src|bench|sandbox)\/)/, '$1')
  return {
    name: functionName || '(anonymous)',
    // V8 counts from zero.
    place: file === '' ? '' : `${file}:${lineNumber + 1}`,
    owner: ownerOf(frame),
  }
}

export type Expensive = Pick<Frame, 'name' | 'place' | 'owner'> & { share: number }

/** Shares of the time that was not idle, the largest first. */
export function sharesOf(root: Frame): { owners: { owner: Owner; share: number }[]; functions: Expensive[] } {
  const owners = new Map<Owner, number>()
  const functions = new Map<string, Expensive>()
  function visit(frame: Frame): void {
    const { name, place, owner, selfMicros, children } = frame
    const share = selfMicros / root.micros
    owners.set(owner, (owners.get(owner) ?? 0) + share)
    const key = `${name} ${place}`
    functions.set(key, { name, place, owner, share: share + (functions.get(key)?.share ?? 0) })
    children.forEach(visit)
  }
  visit(root)
  const greatestFirst = <Each extends { share: number }>(list: Each[]) =>
    list.filter(({ share }) => share > 0).sort((left, right) => right.share - left.share)
  return {
    owners: greatestFirst([...owners].map(([owner, share]) => ({ owner, share }))),
    functions: greatestFirst([...functions.values()]),
  }
}
