// Builds the page of the console into console/dist if its sources have changed: `node console/build.ts`. It builds into a temporary
// directory and renames it, so that a build is never seen half-finished, even if builds run at the same time or are killed. The
// result is not committed.
import { createHash, randomUUID } from 'node:crypto'
import { glob, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { InlineConfig, Plugin } from 'vite'

const base = '/console/'

/** Everything that the build reads. */
const sources = [
  'console/*.*',
  'console/src/**/*.*',
  'package-lock.json',
  'tsconfig.json',
  'src/console/endpoints.ts',
  'src/console/session/times.ts',
  'src/core/token-scopes.ts',
  'src/core/korean-days.ts',
  'src/operators/permissions.ts',
]

/** Sets the colour scheme before the first paint: a blocking script in the head. */
const schemeFirst: Plugin = {
  name: 'scheme-first',
  buildStart() {
    this.emitFile({ type: 'chunk', id: '/src/scheme.ts', name: 'scheme' })
  },
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const scheme = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === 'scheme')
      if (!scheme) throw new Error('The script of the colour scheme was not built.')
      return [{ tag: 'script', attrs: { src: `${base}${scheme.fileName}` }, injectTo: 'head' }]
    },
  },
}

async function build(root: string, outDir: string): Promise<void> {
  // A development build would be three times as large.
  process.env.NODE_ENV = 'production'
  const vite = await import('vite')
  const config: InlineConfig = {
    root: join(root, 'console'),
    base,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'error',
    oxc: { jsx: { runtime: 'automatic' } },
    plugins: [schemeFirst],
    build: {
      outDir,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      sourcemap: false,
      // The first versions with light-dark(), of 2024: transpiled for older ones it would ignore the choice on the page.
      target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
      modulePreload: { polyfill: false },
    },
  }
  await vite.build(config)
}

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** At build time instead of per request. */
export async function compress(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const file = join(directory, name)
    const plain = await readFile(file)
    await writeFile(`${file}.br`, await brotli(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
    await writeFile(`${file}.gz`, await zip(plain, { level: 9 }))
  }
}

export async function digestOfSources(root: string): Promise<string> {
  const files = (await Array.fromAsync(glob(sources, { cwd: root }))).sort()
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(await readFile(join(root, file)))
      .update('\0')
  return hash.digest('hex')
}

async function digestOf(directory: string): Promise<string | null> {
  return readFile(join(directory, 'made-from'), 'utf8').catch(() => null)
}

/** `make` writes index.html and assets/ into a directory. */
export async function buildConsole(
  root: string,
  make = build,
  beforeBuilding: () => void = () => undefined,
): Promise<'built' | 'fresh'> {
  const [digest, dist] = [await digestOfSources(root), join(root, 'console/dist')]
  if ((await digestOf(dist)) === digest) return 'fresh'
  beforeBuilding()
  const temporary = join(root, `console/dist-${randomUUID()}`)
  try {
    await mkdir(temporary, { recursive: true })
    await make(root, temporary)
    await compress(join(temporary, 'assets'))
    await writeFile(join(temporary, 'made-from'), digest)
    await replace(temporary, dist, digest)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  return 'built'
}

/** More attempts than concurrent builds: something else blocks the directory. */
const maxAttempts = 100

/** Succeeds as well if another process has put the same build in place. Several processes may remove the old one. */
async function replace(temporary: string, dist: string, digest: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const error = await rename(temporary, dist).then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason,
    )
    if (!error || (await digestOf(dist)) === digest) return
    if (!/^(ENOTEMPTY|EEXIST)$/.test(error.code ?? '') || attempt === maxAttempts) throw error
    const old = `${temporary}-old-${attempt}`
    await rename(dist, old).catch((reason: NodeJS.ErrnoException) => {
      if (reason.code !== 'ENOENT') throw reason
    })
    await rm(old, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const log = (text: string) => void process.stderr.write(`${text}\n`)
  try {
    await buildConsole(join(import.meta.dirname, '..'), build, () =>
      log('Building the console (once, about 5 seconds) ...'),
    )
  } catch (error) {
    log(`The console could not be built: ${(error as Error).message}`)
    process.exitCode = 1
  }
}
