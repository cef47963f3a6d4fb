// Everything a measurement needs: the books, the gateway's sandbox, and the contenders side by side, each a process of
// its own. The service, the bare routes (no database) and the naive twin (one statement for each request) have the same
// settings.
import { join } from 'node:path'
import { type Launched, messageOf } from '../../harness/launch.ts'
import { databaseUrl } from '../../harness/processes.ts'
import { findPostmaster } from '../../src/db/embedded/postmaster.ts'
import type { Listening } from '../contenders/contender.ts'
import { type Books, openBooks, pepper } from './books.ts'
import { startPart } from './processes.ts'

export const contenderNames = ['service', 'bare', 'naive'] as const
export type ContenderName = (typeof contenderNames)[number]
export type Contender = { running: Launched; listening: Listening }

export type Stage = {
  parts: AsyncDisposableStack
  books: Books
  databasePid: number
  contenders: Partial<Record<ContenderName, Contender>>
  /** Starts one that is not running. */
  enter(name: ContenderName, execArgv?: string[]): Promise<Contender>
}

export const customersOfStage = 1_000
const keys = { clientKey: 'test_ck_bench', secretKey: 'test_sk_bench' }

/** Everything it starts ends with `parts`. By default the books are new. */
export async function openStage(
  parts: AsyncDisposableStack,
  names: readonly ContenderName[] = contenderNames,
  opened?: Books,
  settings: Record<string, string> = {},
): Promise<Stage> {
  const books = opened ?? (await openBooks(parts, customersOfStage))
  const postmaster = findPostmaster(books.server.dataDirectory)
  if (!postmaster) throw new Error('PostgreSQL has ended')
  const environment = environmentOf(books, await startSandbox(parts, books))
  const contenders: Stage['contenders'] = {}
  async function enter(name: ContenderName, execArgv: string[] = []): Promise<Contender> {
    const env = { ...environment, ...settings, DATA_DIR: join(books.directory, name) }
    const running = startPart(parts, `bench/contenders/${name}.ts`, { env, execArgv })
    const contender = { running, listening: await messageOf<Listening>(running) }
    contenders[name] = contender
    return contender
  }
  await Promise.all(names.map((name) => enter(name)))
  return { parts, books, databasePid: postmaster.pid, contenders, enter }
}

async function startSandbox(parts: AsyncDisposableStack, { directory }: Books): Promise<string> {
  const input = { dataDir: join(directory, 'sandbox'), ...keys }
  const sandbox = startPart(parts, 'bench/contenders/sandbox.ts', { args: [JSON.stringify(input)] })
  return (await messageOf<{ url: string }>(sandbox)).url
}

function environmentOf({ server }: Books, gatewayUrl: string): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return {
    PATH,
    NODE_COMPILE_CACHE,
    NODE_ENV: 'production',
    LOG_LEVEL: 'error',
    DATABASE_URL: databaseUrl(server.connection),
    KEY_PEPPER: pepper,
    GATEWAY: 'toss',
    TOSS_API_URL: gatewayUrl,
    TOSS_CLIENT_KEY: keys.clientKey,
    TOSS_SECRET_KEY: keys.secretKey,
    PORT: '0',
    INTERNAL_PORT: '0',
    WEBHOOK_PORT: '0',
    WEBHOOK_TOKEN: 'abcdefghijklmnopqrst',
    SUCCESS_URL: 'https://shop.example/success',
    FAIL_URL: 'https://shop.example/fail',
  }
}
