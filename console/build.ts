// Builds the page of the console into console/dist when what it is made from has changed: `node console/build.ts`. It is
// built beside the place and exchanged by renaming, so that nobody ever finds half of one, however many build at once or
// are killed. Nothing of it is committed.
import { createHash, randomUUID } from 'node:crypto'
import { glob, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { InlineConfig, Plugin } from 'vite'

const base = '/console/'

/** Everything that the files of the page are made from. */
const sources = [
  'console/*.*',
  'console/src/**/*.*',
  'package-lock.json',
  'tsconfig.json',
  'src/console/endpoints.ts',
  'src/console/session/times.ts',
  'src/core/korean-days.ts',
  'src/operators/permissions.ts',
]

/** Light or dark is known before anything is drawn: a plain script in the head, which the page waits for. */
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
  // As one of development the page would be three times as large.
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
      // The first of each that knows light-dark(), of 2024: rewritten for older ones it would not follow the choice made here.
      target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
      modulePreload: { polyfill: false },
    },
  }
  await vite.build(config)
}

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Once here, instead of for everybody who asks. */
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

/** `make` puts index.html and assets/ into a directory. */
export async function buildConsole(
  root: string,
  make = build,
  beforeBuilding: () => void = () => undefined,
): Promise<'built' | 'fresh'> {
  const [made, dist] = [await digestOfSources(root), join(root, 'console/dist')]
  if ((await digestOf(dist)) === made) return 'fresh'
  beforeBuilding()
  const beside = join(root, `console/dist-${randomUUID()}`)
  try {
    await mkdir(beside, { recursive: true })
    await make(root, beside)
    await compress(join(beside, 'assets'))
    await writeFile(join(beside, 'made-from'), made)
    await exchange(beside, dist, made)
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
  return 'built'
}

/** More turns than there are builders at once mean that something else is in the way. */
const mostTurns = 100

/** Whoever finds that another has been faster with the same leaves it at that. Several may take the old one away. */
async function exchange(beside: string, dist: string, made: string): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    const error = await rename(beside, dist).then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason,
    )
    if (!error || (await digestOf(dist)) === made) return
    if (!/^(ENOTEMPTY|EEXIST)$/.test(error.code ?? '') || turn === mostTurns) throw error
    const old = `${beside}-old-${turn}`
    await rename(dist, old).catch((reason: NodeJS.ErrnoException) => {
      if (reason.code !== 'ENOENT') throw reason
    })
    await rm(old, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const say = (text: string) => void process.stderr.write(`${text}\n`)
  try {
    await buildConsole(join(import.meta.dirname, '..'), build, () =>
      say('Building the console (once, about 5 seconds) ...'),
    )
  } catch (error) {
    say(`The console could not be built: ${(error as Error).message}`)
    process.exitCode = 1
  }
}
