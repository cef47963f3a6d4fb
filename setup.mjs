// Makes a fresh clone runnable: installs the dependencies when node_modules is missing or differs from the lockfile, writes the
// types of the client, and with the word `console` builds the page of the console when what it is made from has changed. Plain
// JavaScript for whatever Node the machine has (20 or later); the Node 24 the project runs on is one of the dependencies.
// Prints to stderr only, so that the output of the command it precedes stays clean.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))
const runtimeMajor = 24

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(`${root}${file}`, 'utf8')).packages
  } catch {
    return {}
  }
}

/** Optional packages are the ones for other platforms: those may be absent, but never in another version. */
function isInstalled() {
  const installed = packagesIn('node_modules/.package-lock.json')
  return Object.entries(packagesIn('package-lock.json')).every(([path, wanted]) => {
    if (path === '') return true
    const found = installed[path]
    return found ? found.version === wanted.version && existsSync(`${root}${path}`) : wanted.optional === true
  })
}

function install() {
  process.stderr.write('Installing dependencies (once, up to four minutes on a slow network) ...\n')
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
  const [command, ...prefix] = npm
  const { status } = spawnSync(command, [...prefix, 'ci', '--include=dev', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) {
    process.stderr.write('The installation failed: see the lines above. `npm ci` repeats it.\n')
    process.exit(1)
  }
}

function runtimeVersion() {
  const { stdout } = spawnSync('node', ['--version'], { encoding: 'utf8', cwd: root })
  return stdout?.trim() ?? 'none'
}

if (!isInstalled()) install()
const version = runtimeVersion()
if (!(Number(version.slice(1).split('.')[0]) >= runtimeMajor)) {
  process.stderr.write(
    `Node ${runtimeMajor} or later is needed, this is ${version}. It comes with the dependencies on Linux (x64, arm64); ` +
      'on other systems install it first.\n',
  )
  process.exit(1)
}

/** The service is worth more than its console: it starts without one, which says of itself that it is not built. */
function buildConsole() {
  const { status } = spawnSync('node', ['console/build.ts'], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) process.stderr.write('The service starts without it. `node console/build.ts` repeats the build.\n')
}

if (existsSync(`${root}client/schema.mjs`)) (await import('./client/schema.mjs')).writeSchema()
if (process.argv[2] === 'console') buildConsole()
