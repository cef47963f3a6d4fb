// `npm run pictures`: runs the browser test that takes the pictures of docs/pictures, with a font that has Korean letters.
// A machine without one would draw boxes. With --install Debian's package is unpacked into a cache, for this run alone, and a
// Chromium is installed where there is none.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { missingFiles, ProgramsMissing, unpackPackage } from '../../../harness/debian.ts'
import { repository } from '../../../harness/processes.ts'
import { browserEnvironment, findBrowser, installBrowser } from './browser.ts'

const fontPackage = 'fonts-nanum'
const cache = join(repository, 'node_modules/.cache/pictures')

function hasKoreanFont(data: { XDG_DATA_HOME?: string }): boolean {
  const options = { env: { ...browserEnvironment(), ...data }, encoding: 'utf8' } as const
  const { status, stdout } = spawnSync('fc-list', [':lang=ko'], options)
  return status === 0 && stdout.trim() !== ''
}

/** The environment in which a Korean font is found. */
function withKoreanFont(install: boolean): { XDG_DATA_HOME?: string } {
  if (hasKoreanFont({})) return {}
  const share = join(cache, 'share')
  const data = { XDG_DATA_HOME: share }
  if (install && !existsSync(join(share, 'fonts'))) {
    unpackPackage(fontPackage, cache)
    mkdirSync(share, { recursive: true })
    rmSync(join(share, 'fonts'), { force: true })
    symlinkSync('../usr/share/fonts', join(share, 'fonts'))
  }
  if (hasKoreanFont(data)) return data
  throw missingFiles('a font with Korean letters', fontPackage, cache)
}

const test = [
  '--import=./test/support/watchdog.ts',
  '--test',
  '--test-global-setup=test/support/database/global-setup.ts',
  'test/browser/pictures.test.ts',
]

async function main(): Promise<number> {
  const { install = false } = parseArgs({ options: { install: { type: 'boolean' } } }).values
  await findBrowser().catch((error) => {
    if (!install) throw error
    installBrowser()
  })
  const env = { ...process.env, ...withKoreanFont(install), PICTURES: 'take' }
  return spawnSync(process.execPath, test, { cwd: repository, stdio: 'inherit', env }).status ?? 1
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof ProgramsMissing)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
