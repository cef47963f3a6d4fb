// The memory of the sandbox across restarts, and the oracle of tests: one JSON object a line, appended before the answer
// is sent and replayed at start. Its members (all but the first are optional):
//   changed        the payments that changed, each as the whole value it became (payments.ts), oldest first
//   answered       the answer bound to an idempotency key (idempotency.ts)
//   webhooks       the notifications that are due because of it (deliveries.ts)
//   delivery       how an attempt to deliver one of them ended, and what comes next (deliveries.ts)
//   clockOffsetMs  how far the clock is ahead of the machine's from here on (clock.ts)
// What one request did shares a line, so there is never one part without the other. Each movement of money is one value
// in `changed`: DONE a capture, one more entry in `cancels` a cancel, one less a cancel that is taken back. A written line survives the death of the
// process (kill -9) because the kernel has it; it is not synced to disk, so a power cut may lose the last lines.

import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMovements, type Movement } from './payments/movements.ts'
import type { Payment } from './payments/payments.ts'
import type { Answered } from './protocol/idempotency.ts'
import type { Announcement, Progress } from './webhooks/deliveries.ts'

export type JournalEntry = {
  changed: Payment[]
  answered?: Answered
  webhooks?: Announcement[]
  delivery?: Progress
  clockOffsetMs?: number
}

export type Journal = { append(entry: JournalEntry): void; close(): void }

export const journalName = 'journal.jsonl'

export function openJournal(dataDir: string, replay: (entry: JournalEntry) => void): Journal {
  mkdirSync(dataDir, { recursive: true })
  const path = join(dataDir, journalName)
  const file = openSync(path, 'a+')
  let length = 0
  try {
    length = replayLines(readFileSync(path), path, replay)
    // The bytes after the last newline were never answered for: the process died while writing them.
    ftruncateSync(file, length)
  } catch (error) {
    closeSync(file)
    throw error
  }

  return {
    append(entry) {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`)
      try {
        appendFileSync(file, line)
      } catch (error) {
        ftruncateSync(file, length) // half a line before the next one would damage both
        throw error
      }
      length += line.length
    },
    close: () => closeSync(file),
  }
}

/** Every movement of money in the journal `file` that was not taken back, in its order; the sandbox may be running or not. */
export function readMovements(file: string): Movement[] {
  const movements = createMovements()
  replayLines(readFileSync(file), file, ({ changed }) => changed.forEach(movements.put))
  return movements.all()
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
