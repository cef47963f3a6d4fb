// Takes pieces away from what was found for as long as the same is still found: halves first, then smaller ones. What is
// left is mostly short enough to be understood by looking at it.

/** A finding that takes its time to show would otherwise take hours to shrink. */
const limitMs = 10_000
const mostTries = 250

export type Shows = (bytes: Buffer) => Promise<boolean>

/** Null when it does not show again even whole. */
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
