// The findings, each with all that is needed to send it again, including the exact bytes. Of one kind only the first
// ones are kept: a fault of every tenth request would hide all others.
import type { Case } from '../cases/cases.ts'
import type { Breach } from './oracles.ts'

export type Finding = Breach & {
  seed: number
  /** Null where the case is not known: then those under way are in `detail`. */
  connection: number | null
  ordinal: number | null
  listener: string | null
  kind: string | null
  /** With stand-ins for keys and ids. */
  sent: string | null
  /** The shrunk bytes; null where the finding could not be repeated. */
  least: string | null
  received: string | null
}

const keptOfKind = 5

export type Findings = ReturnType<typeof createFindings>

export function createFindings(seed: number) {
  const kept: Finding[] = []
  const counts = new Map<string, number>()
  /** Whether it was kept. */
  function add(finding: Finding): boolean {
    const count = (counts.get(finding.oracle) ?? 0) + 1
    counts.set(finding.oracle, count)
    if (count > keptOfKind) return false
    kept.push(finding)
    return true
  }
  const nowhere = {
    seed,
    connection: null,
    ordinal: null,
    listener: null,
    kind: null,
    sent: null,
    least: null,
    received: null,
  }
  return {
    kept,
    counts,
    isNew: ({ oracle }: Breach) => !counts.has(oracle),
    /** About the process, its log or the books. */
    addGeneral: (breach: Breach) => add({ ...nowhere, ...breach }),
    addOfCase(
      breach: Breach,
      { connection, ordinal, listener, kind, bytes }: Case,
      received: Buffer,
      least: Buffer | null,
    ) {
      const sent = escaped(bytes)
      const texts = { sent, least: least && escaped(least), received: escaped(received) }
      return add({ ...breach, seed, connection, ordinal, listener, kind, ...texts })
    },
  }
}

/** As in a JavaScript string literal. */
export function escaped(bytes: Buffer): string {
  const named: Record<number, string> = { 9: '\\t', 10: '\\n', 13: '\\r', 92: '\\\\', 39: "\\'" }
  let text = ''
  for (const byte of bytes) {
    const isVisible = byte >= 0x20 && byte < 0x7f
    text += named[byte] ?? (isVisible ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`)
  }
  return text
}
