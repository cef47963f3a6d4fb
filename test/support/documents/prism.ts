// A validating proxy between the tests and a listener: Prism checks every answer against openapi.json, and an
// undocumented answer fails its test. The tests of the API use it when PRISM=1 is set; those of test/openapi always do.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { repository } from '../../../harness/processes.ts'
import { until } from '../../../harness/until.ts'
import { apiDocument } from '../../../src/listeners/api-document.ts'
import { installTools, toolEnvironment, toolProgram } from './tools.ts'

export type Way = {
  fetch(path: string, request: RequestInit): Promise<Response>
  close(): Promise<void>
}

export type WayName = 'direct' | 'checked'

const usual: WayName = process.env.PRISM === '1' ? 'checked' : 'direct'

export type ListenerName = 'public' | 'internal'

/** Opens the path for calls to a listener: direct, or through the proxy. */
export async function openWay(listener: ListenerName, url: string, name: WayName = usual): Promise<Way> {
  return name === 'checked' ? checkedWay(listener, url) : direct(url)
}

export function direct(url: string): Way {
  return { fetch: (path, request) => fetch(`${url}${path}`, request), close: async () => undefined }
}

type Document = { paths: Record<string, object> }

/** Requests that are not an operation of this listener bypass the proxy. */
function createIsOperation(listener: ListenerName): (path: string, method: string) => boolean {
  const operations = Object.entries((apiDocument() as Document).paths)
    .filter(([path]) => path.startsWith('/public/') === (listener === 'public'))
    .map(([path, methods]) => ({
      path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`),
      methods: Object.keys(methods),
    }))
  return (path, method) =>
    operations.some((each) => each.path.test(path) && each.methods.includes(method.toLowerCase()))
}

/** Prism parses and rewrites a JSON body: a body that it would change is sent to the listener directly. */
function isKept({ body, headers }: RequestInit): boolean {
  if (body == null || !new Headers(headers).get('content-type')?.startsWith('application/json')) return true
  try {
    return JSON.stringify(JSON.parse(`${body}`)) === body
  } catch {
    return false
  }
}

async function checkedWay(listener: ListenerName, url: string): Promise<Way> {
  const proxy = await startPrism(url)
  const isOperation = createIsOperation(listener)
  return {
    close: proxy.close,
    async fetch(path, request) {
      if (!isOperation(path, request.method ?? 'GET') || !isKept(request)) return fetch(`${url}${path}`, request)
      const answer = await fetch(`${proxy.url}${path}`, request)
      assert.deepEqual(violationsOf(answer), [], `${request.method} ${path}: ${answer.status}`)
      return answer
    },
  }
}

export type Violation = { location: string[]; message: string }

/**
 * The violations of a response, from a header of Prism. Violations of requests are ignored: tests send them on purpose.
 */
export function violationsOf({ headers }: Response): Violation[] {
  const violations: Violation[] = JSON.parse(headers.get('sl-violations') ?? '[]')
  return violations.filter(({ location }) => location[0] !== 'request')
}

export async function startPrism(upstream: string) {
  await installTools()
  // Many tests send requests that violate the document: only the listener checks them.
  const options = ['--port=0', '--host=127.0.0.1', '--validate-request=false', '--cors=false']
  const args = [toolProgram('prism'), 'proxy', 'openapi.json', upstream, ...options]
  const child = spawn(process.execPath, args, {
    cwd: repository,
    env: toolEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  async function close(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  const address = () => /listening on (http:\S+)/.exec(output)?.[1]
  try {
    await until('Prism listens', () => address() !== undefined || child.exitCode !== null, 30_000)
    assert.ok(address(), output)
  } catch (error) {
    await close()
    throw error
  }
  return { url: address() as string, close }
}
