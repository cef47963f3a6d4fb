// A process that runs several test files, one after the other, each as a suite with the name of the file: its hooks are its
// own and run around its tests alone. Several lanes share one list: each takes the next file that no other has taken.
// A process and what it loads cost a second of work, more than most files have to do.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'

/** The file that is created for a taken one decides between lanes. */
function isFree(claim: string): boolean {
  try {
    closeSync(openSync(claim, 'wx'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** In the directory of its claims: the name of the file that a process has taken last. */
export const currentFile = (claims: string, pid = process.pid) => join(claims, `process-${pid}`)

export async function runLane(files: readonly string[], claims: string): Promise<void> {
  let current = ''
  process.once('exit', (code) => {
    if (code !== 0 && current !== '') writeSync(2, `The process has ended with ${code} during ${current}\n`)
  })
  for (const [place, file] of files.entries()) {
    if (!isFree(join(claims, `${place}`))) continue
    current = file
    writeFileSync(currentFile(claims), file)
    await suite(file, async () => void (await import(pathToFileURL(file).href)))
    current = ''
  }
}
