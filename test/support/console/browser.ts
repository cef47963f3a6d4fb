// A real Chromium for the browser tests, from the npm package (x64), or the machine's. The first that starts is used; without
// one the tests are skipped with the reason. The headless shell is preferred to the whole browser: it has the same engine and
// draws no windows. What it writes besides its profile goes to the temporary directory.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium, type Page, type PageScreenshotOptions } from 'playwright-core'
import { installPrograms, missingPrograms, type Program } from '../../../harness/debian.ts'
import { repository } from '../../../harness/processes.ts'
import { moveUnlessThere, ownName, publish, removeAbandoned } from '../../../src/db/embedded/files.ts'

/** Where npm has none. */
const debianChromium: Program = { name: 'a Chromium', packages: ['chromium-headless-shell'] }
const hasPackagedChromium = process.arch === 'x64' && process.platform === 'linux'
/** For the `skip` of a test. */
export const noBrowser = 'no Chromium on this machine: npm run test:outer -- --install'

const installed = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

/** The tests use loopback only: the browser needs no other network access. */
const quietArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-dev-shm-usage',
]

type Candidate = () => Promise<{ executablePath: string; env: NodeJS.ProcessEnv } | undefined>

const candidates: Candidate[] = [
  async () =>
    hasPackagedChromium
      ? { executablePath: join(await unpackChromium(), 'chromium'), env: browserEnvironment() }
      : undefined,
  // With the libraries and fonts of the package, for a machine that has none.
  async () => {
    if (!hasPackagedChromium) return undefined
    const place = await unpackChromium()
    const env = { ...browserEnvironment(join(place, 'fonts/fonts')), LD_LIBRARY_PATH: join(place, 'al2023/lib') }
    return { executablePath: join(place, 'chromium'), env }
  },
  ...installed.map(
    (path): Candidate =>
      async () =>
        at(path),
  ),
]

const packageDirectory = join(repository, 'node_modules/@sparticuz/chromium')
const cache = join(repository, 'node_modules/.cache')

/**
 * Unpacking takes seconds: once for an installation. The package unpacks to the temporary directory, and takes a file that is
 * there for a whole one, even while another process still writes it. It has libraries that it unpacks for a cloud function alone.
 */
async function unpackChromium(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'))
  const name = `chromium-${version}`
  const place = join(cache, name)
  if (existsSync(place)) return place
  mkdirSync(cache, { recursive: true })
  removeAbandoned(cache, `${name}.`)
  const unfinished = `${place}.${ownName()}`
  mkdirSync(unfinished)
  const unpack = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', unpack], {
    cwd: repository,
    env: { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' },
  })
  moveUnlessThere(unfinished, place)
  return place
}

/** Without it a Chromium writes to the home directory, and as root the index of the fonts to /var/cache. */
export function browserEnvironment(fonts = '/usr/share/fonts'): NodeJS.ProcessEnv {
  const home = join(tmpdir(), `credits-chromium-${userInfo().uid}`)
  mkdirSync(home, { recursive: true })
  const file = join(home, `${fonts.replaceAll(/\W+/g, '-')}.conf`)
  publish(
    file,
    `<fontconfig>
      <cachedir>${home}/fontconfig</cachedir>
      <dir>${fonts}</dir>
      <dir prefix="xdg">fonts</dir>
      <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
    </fontconfig>
    `,
  )
  return { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, FONTCONFIG_FILE: file }
}

function at(executablePath: string) {
  return existsSync(executablePath) ? { executablePath, env: browserEnvironment() } : undefined
}

/** Undefined when this machine has none. */
export async function launchBrowser(): Promise<Browser | undefined> {
  for (const candidate of candidates) {
    try {
      const found = await candidate()
      // The package's own arguments are for cloud functions: they run the browser in one process, which a crashing page would end.
      if (found) return await chromium.launch({ ...found, args: quietArguments, headless: true })
    } catch (error) {
      process.stderr.write(`A Chromium did not start: ${String((error as Error).message).split('\n')[0]}\n`)
    }
  }
  return undefined
}

/** Throws if there is none. */
export async function findBrowser(): Promise<void> {
  const browser = await launchBrowser()
  if (!browser) throw missingPrograms([debianChromium])
  await browser.close()
}

export function installBrowser(): void {
  installPrograms([debianChromium])
}

/** The directory for screenshots: SCREENSHOTS=directory npm test. */
const pictures = process.env.SCREENSHOTS

export async function takePicture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  if (!pictures) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), ...options })
}
