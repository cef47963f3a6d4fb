// `npm run pictures`: runs the browser test that takes the pictures of docs/pictures, with a font that has Korean letters.
// A machine without one would draw boxes. Debian's package is then unpacked into a cache, for this run alone.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../../harness/processes.ts'

const fontPackage = 'fonts-nanum'
const cache = join(repository, 'node_modules/.cache/pictures')

function hasKoreanFont(env: NodeJS.ProcessEnv): boolean {
  const { status, stdout } = spawnSync('fc-list', [':lang=ko'], { env, encoding: 'utf8' })
  return status === 0 && stdout.trim() !== ''
}

/** The environment in which a Korean font is found. */
function withKoreanFont(): NodeJS.ProcessEnv {
  if (hasKoreanFont(process.env)) return process.env
  const env = { ...process.env, XDG_DATA_HOME: join(cache, 'share') }
  if (!existsSync(join(cache, 'share/fonts'))) {
    mkdirSync(join(cache, 'share'), { recursive: true })
    const unpack = `apt-get download -qq ${fontPackage} && dpkg -x ${fontPackage}_*.deb . && ln -s ../usr/share/fonts share/fonts`
    spawnSync('sh', ['-c', unpack], { cwd: cache, stdio: 'inherit' })
  }
  if (hasKoreanFont(env)) return env
  process.stderr.write(`No Korean font is installed, and ${fontPackage} could not be downloaded. Install one.\n`)
  process.exit(1)
}

const { status } = spawnSync(
  process.execPath,
  [
    '--import=./test/support/watchdog.ts',
    '--test',
    '--test-global-setup=test/support/database/global-setup.ts',
    'test/browser/pictures.test.ts',
  ],
  { cwd: repository, stdio: 'inherit', env: { ...withKoreanFont(), PICTURES: 'take' } },
)
process.exit(status ?? 1)
