// Makes what fails smaller, steps of a simulation or bytes: delta debugging, for steps also simpler times. What is left fails in
// the same way, and does not without any one of its items.

/** `fails`: whether these steps, in this order, still fail in the same way. */
export type Trial<Item> = (items: Item[]) => Promise<boolean>

/** As few items as `fails` still holds for, in their order; `items` itself has to fail. */
export async function minimize<Item>(items: Item[], fails: Trial<Item>): Promise<Item[]> {
  let left = items
  let parts = 2
  while (left.length >= 2) {
    const size = Math.ceil(left.length / parts)
    const smaller = await firstFailing(complementsOf(left, size), fails)
    if (smaller) {
      left = smaller
      parts = Math.max(parts - 1, 2)
    } else if (parts >= left.length) break
    else parts = Math.min(left.length, parts * 2)
  }
  if (left.length === 1 && (await fails([]))) return []
  return left
}

/** Without the groups that are not needed, the largest first: most failures need one or two kinds of steps. */
export async function withoutGroups<Item>(
  items: Item[],
  groupOf: (item: Item) => string,
  fails: Trial<Item>,
): Promise<Item[]> {
  let left = items
  const groups = [...Map.groupBy(items, groupOf)].sort(([, one], [, other]) => other.length - one.length)
  for (const [group] of groups) {
    const others = left.filter((item) => groupOf(item) !== group)
    if (others.length > 0 && (await fails(others))) left = others
  }
  return left
}

/** The list without each of its parts. The last ones first: what came last is most often not needed. */
function* complementsOf<Item>(items: Item[], size: number): Generator<Item[]> {
  for (let part = Math.ceil(items.length / size) - 1; part >= 0; part -= 1) yield items.toSpliced(part * size, size)
}

/** A finding that takes long to show would take hours to shrink. */
const mostTriesOfBytes = 250
const limitOfBytesMs = 10_000

/** Null when even all of them do not fail again. */
export async function minimizeBytes(bytes: Buffer, fails: (bytes: Buffer) => Promise<boolean>): Promise<Buffer | null> {
  const endMs = performance.now() + limitOfBytesMs
  let tries = 0
  const tried: Trial<number> = async (candidate) => {
    tries += 1
    return tries <= mostTriesOfBytes && performance.now() < endMs && (await fails(Buffer.from(candidate)))
  }
  return (await fails(bytes)) ? Buffer.from(await minimize([...bytes], tried)) : null
}

async function firstFailing<Item>(candidates: Iterable<Item[]>, fails: Trial<Item>): Promise<Item[] | undefined> {
  for (const candidate of candidates) if (await fails(candidate)) return candidate
  return undefined
}

type Timed = { atMs: number }

/** From the simplest on: no wait longer than that, and times that are whole multiples. */
const simpler: { longestMs: number; roundMs: number }[] = [
  { longestMs: 1_000, roundMs: 1_000 },
  { longestMs: 1_000, roundMs: 100 },
  { longestMs: 5_000, roundMs: 100 },
  { longestMs: 1_000, roundMs: 1 },
  { longestMs: 5_000, roundMs: 1 },
  { longestMs: 30_000, roundMs: 1 },
]

/** The same steps at simpler times, from 0 on. */
export async function simplifyTimes<Item extends Timed>(items: Item[], fails: Trial<Item>): Promise<Item[]> {
  const candidates = simpler.map((how) => retimed(items, how))
  return (await firstFailing(candidates, fails)) ?? items
}

function retimed<Item extends Timed>(
  items: Item[],
  { longestMs, roundMs }: { longestMs: number; roundMs: number },
): Item[] {
  let before = items[0]?.atMs ?? 0
  let atMs = 0
  return items.map((item) => {
    atMs += Math.min(item.atMs - before, longestMs)
    before = item.atMs
    return { ...item, atMs: Math.round(atMs / roundMs) * roundMs }
  })
}
