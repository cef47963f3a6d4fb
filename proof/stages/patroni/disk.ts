// The disk of a node: a file system of a fixed size that can be filled.
import { spawnSync } from 'node:child_process'
import { rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const size = '2g'
const restBytes = 64 * 1024 * 1024

export type Disk = {
  /** What is written next fails, except where space was allocated before. */
  fill(): void
  empty(): void
  remove(): void
}

/** At a directory that exists, for the user who runs the node. Undefined where none can be mounted: only root can. */
export function mountDisk(directory: string, { uid, gid }: { uid: number; gid: number }): Disk | undefined {
  const isMounted = run(
    'mount',
    '-t',
    'tmpfs',
    '-o',
    `size=${size},uid=${uid},gid=${gid},mode=0700`,
    'tmpfs',
    directory,
  )
  if (!isMounted) return undefined
  const filler = join(directory, 'filler')
  return {
    fill(): void {
      const { bavail, bsize } = statfsSync(directory)
      // The server takes space meanwhile: not all of it at once, and the rest by a write that has to fail.
      run('fallocate', '-l', `${bavail * bsize - restBytes}`, filler)
      run('dd', 'if=/dev/zero', `of=${filler}`, 'bs=64k', 'oflag=append', 'conv=notrunc')
      if (statfsSync(directory).bavail * bsize > bsize * 100) throw new Error(`${directory} could not be filled`)
    },
    empty: () => rmSync(filler, { force: true }),
    // Also while a process that is being killed still has a file open there.
    remove: () => void run('umount', '--lazy', directory),
  }
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0
}
