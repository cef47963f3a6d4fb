// A real Chromium for the browser tests, from wherever one is to be had: the npm package (x64), the machine, or, on a
// Debian where we are root, its package. The first that really starts is taken; without any the tests are skipped and
// say why. Before the whole browser comes its shell without windows: it shows pages by the same engine, and draws no toolbar
// around each of them.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page, type PageScreenshotOptions } from 'playwright-core'
import { diskDirectory } from '../../../harness/processes.ts'

/** Debian's, by what is to be had first. */
const packages = ['chromium-headless-shell', 'chromium']
const installed = [
  ...packages.map((name) => `/usr/bin/${name}`),
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

/** The tests talk to loopback: nothing in the browser has anything to do outside. */
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
    // Its own arguments are for functions of a cloud: with all of the browser in one process a page that crashes ends it.
    return { executablePath: await unpackedOnDisk(() => packaged.executablePath()), args: quietArguments }
  },
  ...installed.map(
    (path): Candidate =>
      async () =>
        at(path),
  ),
  async () => {
    if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) return undefined
    process.stderr.write('Installing a Chromium for the browser tests (once) ...\n')
    // Under a lock: test files run side by side, and the second finds what the first has installed.
    const tries = packages.map((name) => `apt-get install -y -qq --no-install-recommends ${name}`)
    const present = packages.map((name) => `test -x /usr/bin/${name}`)
    const install = `${present.join(' || ')} || (apt-get update -qq && (${tries.join(' || ')}))`
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync('flock', ['/tmp/prepaid-credits-chromium.lock', 'sh', '-c', install], { env, timeout: 300_000 })
    return installed.map(at).find((found) => found !== undefined)
  },
]

/** It unpacks itself into the temporary directory unless it is there already, which takes seconds: so not into a run's own. */
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

/** Where pictures go, when somebody wants to look: SCREENSHOTS=directory npm test. */
const pictures = process.env.SCREENSHOTS

export async function takePicture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  if (!pictures) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), ...options })
}
