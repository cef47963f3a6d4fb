// Installs programs that some tests need from Debian's packages, where that is possible: as root on Debian.
import { spawnSync } from 'node:child_process'

const limitMs = 300_000

export function isRootOnDebian(): boolean {
  return process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0
}

/** Under a lock: test files run side by side, and the second finds what the first has installed. */
export function runLocked(script: string): boolean {
  // No server of a package is started.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const command = ['/tmp/prepaid-credits-packages.lock', 'sh', '-ec', script]
  return spawnSync('flock', command, { env, timeout: limitMs }).status === 0
}
