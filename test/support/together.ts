// Test files that share a process: each is a suite with the name of the file, so its hooks are its own and run around its
// tests alone. A process and what it loads cost a second of work, more than most files have to do.
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'

export function runTogether(files: readonly string[]): void {
  for (const file of files) suite(file, async () => void (await import(pathToFileURL(file).href)))
}
