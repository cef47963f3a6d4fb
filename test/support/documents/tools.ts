// The tools that check the API document: a separate package in tools/, with its own lockfile, so that running the service
// does not require them. The first test that needs them installs them, once: test files run concurrently.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bareEnvironment, repository } from '../../../harness/processes.ts'

export const toolsFolder = join(repository, 'tools')
const lockFile = join(repository, 'node_modules/.cache/tools.lock')
const installLimitMs = 180_000

/** Disables telemetry and update checks. */
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_UPDATE_NOTIFIER: '1', CI: '1' }

export type ToolRun = { code: number | null; stdout: string; stderr: string }

/** The program of a package of tools/, by its name there. */
export function toolProgram(name: string): string {
  return join(toolsFolder, 'node_modules/.bin', name)
}

export function toolEnvironment(): NodeJS.ProcessEnv {
  return bareEnvironment({ ...quiet, NODE_OPTIONS: undefined })
}

/** Runs a tool to its end, and installs it first when it is missing. */
export async function runTool(name: string, args: string[], cwd = repository): Promise<ToolRun> {
  await installTools()
  return run(process.execPath, [toolProgram(name), ...args], cwd, toolEnvironment())
}

async function run(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<ToolRun> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, ...output }
}

export async function installTools(): Promise<void> {
  if (isInstalled()) return
  const unlock = await lock()
  try {
    if (isInstalled()) return
    process.stderr.write('Installing the tools that check the API document (once) ...\n')
    const settings = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { code, stderr } = await run('npm', ['ci', ...settings], toolsFolder, process.env)
    if (code !== 0) throw new Error(`npm ci in tools/ failed: ${stderr}`)
  } finally {
    unlock()
  }
}

type Lockfile = { packages: Record<string, { version?: string; optional?: boolean }> }

function packagesIn(file: string): Lockfile['packages'] {
  const path = join(toolsFolder, file)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Lockfile).packages : {}
}

/** Like the check in setup.mjs: optional packages are those for other platforms, and may be absent. */
function isInstalled(): boolean {
  const installed = packagesIn('node_modules/.package-lock.json')
  return Object.entries(packagesIn('package-lock.json')).every(([path, wanted]) => {
    if (path === '') return true
    const found = installed[path]
    return found ? found.version === wanted.version : wanted.optional === true
  })
}

/** A lock file that only one process can create; it remains when that process dies. */
async function lock(): Promise<() => void> {
  mkdirSync(dirname(lockFile), { recursive: true })
  const end = performance.now() + installLimitMs
  for (;;) {
    try {
      writeFileSync(lockFile, `${process.pid}`, { flag: 'wx' })
      return () => rmSync(lockFile, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    if (!isAlive(Number(readHolder())) || performance.now() > end) rmSync(lockFile, { force: true })
    await sleep(100)
  }
}

function readHolder(): string {
  try {
    return readFileSync(lockFile, 'utf8') || `${process.pid}`
  } catch {
    return `${process.pid}`
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
