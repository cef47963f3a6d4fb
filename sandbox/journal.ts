// The memory of the sandbox across restarts: one JSON line per exchange that changed something, appended before the
// answer leaves and replayed at start. The payments and the idempotency record of one exchange share a line, so there
// is never one without the other. A written line survives the death of the process (kill -9) because the kernel
// has it; it is not synced to disk, so a power cut may lose the last lines: this is a sandbox.

import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answered } from './idempotency.ts'
import type { Payment } from './payments.ts'

export type JournalEntry = { changed: Payment[]; answered?: Answered }

export type Journal = { append(entry: JournalEntry): void; close(): void }

export function openJournal(dataDir: string, replay: (entry: JournalEntry) => void): Journal {
  mkdirSync(dataDir, { recursive: true })
  const path = join(dataDir, 'journal.jsonl')
  const file = openSync(path, 'a+')
  let length = replayLines(readFileSync(path), path, replay)
  // What follows the last newline was never answered for: the process died while writing it.
  ftruncateSync(file, length)

  return {
    append(entry) {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`)
      try {
        appendFileSync(file, line)
      } catch (error) {
        ftruncateSync(file, length) // half a line in front of the next one would spoil both
        throw error
      }
      length += line.length
    },
    close: () => closeSync(file),
  }
}

/** Returns the length in bytes of the whole lines. */
function replayLines(bytes: Buffer, path: string, replay: (entry: JournalEntry) => void): number {
  let start = 0
  for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
    replay(parseLine(bytes.toString('utf8', start, end), `${path} at byte ${start}`))
    start = end + 1
  }
  return start
}

function parseLine(line: string, place: string): JournalEntry {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new Error(`The sandbox journal is damaged: ${place} is not JSON. Move the file away to start empty.`, {
      cause,
    })
  }
}
