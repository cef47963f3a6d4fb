// A real Chromium for the browser tests, from the first available source: the npm package (x64), the machine, or, as root on
// Debian, its package. The first that starts is used; without one the tests are skipped with the reason. The headless shell
// is preferred to the whole browser: it has the same engine and draws no windows.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page, type PageScreenshotOptions } from 'playwright-core'
import { isRootOnDebian, runLocked } from '../../../harness/debian.ts'
import { diskDirectory } from '../../../harness/processes.ts'

/** Debian's packages, in order of preference. */
const packages = ['chromium-headless-shell', 'chromium']
const installed = [
  ...packages.map((name) => `/usr/bin/${name}`),
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

type Candidate = () => Promise<{ executablePath: string; args: string[] } | undefined>

const candidates: Candidate[] = [
  async () => {
    if (process.arch !== 'x64' || process.platform !== 'linux') return undefined
    const { default: packaged } = await import('@sparticuz/chromium')
    // Its own arguments are for cloud functions: they run the browser in one process, which a crashing page would end.
    return { executablePath: await unpackedOnDisk(() => packaged.executablePath()), args: quietArguments }
  },
  ...installed.map(
    (path): Candidate =>
      async () =>
        at(path),
  ),
  async () => {
    if (!isRootOnDebian()) return undefined
    process.stderr.write('Installing a Chromium for the browser tests (once) ...\n')
    const tries = packages.map((name) => `apt-get install -y -qq --no-install-recommends ${name}`)
    const present = packages.map((name) => `test -x /usr/bin/${name}`)
    runLocked(`${present.join(' || ')} || (apt-get update -qq && (${tries.join(' || ')}))`)
    return installed.map(at).find((found) => found !== undefined)
  },
]

/** Unpacking takes seconds and is skipped when the files exist: so not into the temporary directory of a run. */
async function unpackedOnDisk(unpack: () => Promise<string>): Promise<string> {
  const { TMPDIR } = process.env
  process.env.TMPDIR = diskDirectory()
  try {
    return await unpack()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

function at(executablePath: string) {
  return existsSync(executablePath) ? { executablePath, args: quietArguments } : undefined
}

/** Undefined when this machine has none and none can be installed. */
export async function launchBrowser(): Promise<Browser | undefined> {
  for (const candidate of candidates) {
    try {
      const found = await candidate()
      if (found) return await chromium.launch({ ...found, headless: true })
    } catch (error) {
      process.stderr.write(`A Chromium did not start: ${String((error as Error).message).split('\n')[0]}\n`)
    }
  }
  return undefined
}

/** The directory for screenshots: SCREENSHOTS=directory npm test. */
const pictures = process.env.SCREENSHOTS

export async function takePicture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  if (!pictures) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), ...options })
}
