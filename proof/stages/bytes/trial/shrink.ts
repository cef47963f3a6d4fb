// Removes pieces from the bytes of a finding as long as the same oracle still finds it: halves first, then smaller
// ones. The rest is mostly short enough to be understood.

/** A finding that takes long to show would take hours to shrink. */
const limitMs = 10_000
const mostTries = 250

export type Shows = (bytes: Buffer) => Promise<boolean>

/** Null when even the whole bytes do not show it again. */
export async function shrink(
  bytes: Buffer,
  shows: Shows,
  now: () => number = () => performance.now(),
): Promise<Buffer | null> {
  const end = now() + limitMs
  let tries = 0
  async function stillShows(candidate: Buffer): Promise<boolean> {
    tries += 1
    return tries <= mostTries && now() < end && (await shows(candidate))
  }
  if (!(await stillShows(bytes))) return null
  let least = bytes
  for (let size = Math.ceil(bytes.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < least.length; ) {
      const without = Buffer.concat([least.subarray(0, start), least.subarray(start + size)])
      if (without.length < least.length && (await stillShows(without))) least = without
      else start += size
    }
  }
  return least
}
