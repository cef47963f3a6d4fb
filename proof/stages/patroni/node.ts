// One node of the cluster: a PostgreSQL and the Patroni that manages it. Each can be killed and frozen alone or together,
// and the network around them can be cut.
import { chownSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Launched } from '../../../harness/launch.ts'
import { openLink } from '../../../harness/link.ts'
import { launchPart, makeDirectory, type Runner } from '../../../harness/runner.ts'
import { until } from '../../../harness/until.ts'
import { findPostmaster, isAlive } from '../../../src/db/embedded/postmaster.ts'
import { mountDisk } from './disk.ts'
import type { Programs } from './packages.ts'

export type NodeSettings = {
  name: string
  directory: string
  programs: Programs
  runner: Runner
  /** For the services, the REST interface of Patroni; both for the other nodes; for Patroni's way to etcd. */
  ports: Record<'postgres' | 'rest' | 'peerPostgres' | 'peerRest' | 'etcd', number>
  etcdPort: number
  passwords: Record<'POSTGRES_PASSWORD' | 'REPLICATION_PASSWORD' | 'REWIND_PASSWORD' | 'REST_PASSWORD', string>
  /** The values of ops/patroni/patroni.yaml that all nodes share. */
  shared: Record<'TTL' | 'LOOP_WAIT' | 'RETRY_TIMEOUT' | 'SYNCHRONOUS', string>
  /** Whether the data get a disk of their own, which can be filled, where one can be mounted. */
  wantsDisk: boolean
  /** How far its clock is ahead, in seconds. */
  clockAhead: number
  /** Takes what is to be released after the node has stopped. */
  parts: AsyncDisposableStack
}

export type ClusterNode = Awaited<ReturnType<typeof createNode>>

/** The files that operators use; `values` are those that it has in ${}. */
export function copyTemplate(runner: Runner, name: string, file: string, values: Record<string, string> = {}): void {
  const template = readFileSync(new URL(`../../../ops/patroni/${name}`, import.meta.url), 'utf8')
  writeFileSync(
    file,
    template.replaceAll(/\$\{(\w+)\}/g, (all, key) => values[key] ?? all),
    { mode: 0o600 },
  )
  chownSync(file, runner.uid, runner.gid)
}

const restLimitMs = 1_000
const switchoverLimitMs = 60_000

export async function createNode(settings: NodeSettings) {
  const { name, directory, programs, runner, ports, etcdPort, passwords, shared, wantsDisk, clockAhead, parts } =
    settings
  const configuration = join(directory, 'patroni.yaml')
  const diskDirectory = join(directory, 'disk')
  const dataDirectory = join(diskDirectory, 'data')
  makeDirectory(runner, directory)
  makeDirectory(runner, diskDirectory)
  const disk = wantsDisk ? mountDisk(diskDirectory, runner) : undefined
  parts.defer(() => disk?.remove())
  async function linkTo(port: number, to: number) {
    const link = await openLink(port, { host: '127.0.0.1', port: to })
    parts.defer(() => link.close())
    return link
  }
  const replication = await linkTo(ports.peerPostgres, ports.postgres)
  const links = [replication, await linkTo(ports.peerRest, ports.rest), await linkTo(ports.etcd, etcdPort)]
  let patroni: Launched | undefined
  let isWanted = true
  copyTemplate(runner, 'patroni.yaml', configuration, {
    NODE: name,
    REST_LISTEN: `127.0.0.1:${ports.rest}`,
    REST_ADDRESS: `127.0.0.1:${ports.peerRest}`,
    ETCD_HOSTS: `127.0.0.1:${ports.etcd}`,
    POSTGRES_LISTEN: `127.0.0.1:${ports.postgres}`,
    POSTGRES_ADDRESS: `127.0.0.1:${ports.peerPostgres}`,
    NETWORK: '127.0.0.1/32',
    DATA_DIRECTORY: dataDirectory,
    RUN_DIRECTORY: directory,
    POSTGRES_BIN: shiftClock(runner, programs, join(directory, 'bin'), clockAhead),
    ...passwords,
    ...shared,
  })

  const postmasterId = () => findPostmaster(dataDirectory)?.pid

  function signal(pid: number | undefined, name: NodeJS.Signals): void {
    try {
      if (pid !== undefined) process.kill(pid, name)
    } catch {
      // It has ended meanwhile.
    }
  }

  function signalPatroni(name: NodeJS.Signals): void {
    if (patroni && !patroni.isGone()) patroni.child.kill(name)
  }

  /** The server first: it could start another child before it stops. */
  function signalPostgres(name: NodeJS.Signals): void {
    const pid = postmasterId()
    if (pid === undefined) return
    signal(pid, name)
    for (const child of childrenOf(pid)) signal(child, name)
  }

  const authorization = `Basic ${Buffer.from(`patroni:${passwords.REST_PASSWORD}`).toString('base64')}`

  async function request(method: 'GET' | 'POST', path: string, body?: object, limitMs = restLimitMs) {
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`http://127.0.0.1:${ports.rest}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers }),
      signal: AbortSignal.timeout(limitMs),
    })
    return { status: answer.status, text: await answer.text() }
  }

  async function killPatroni(): Promise<void> {
    signalPatroni('SIGKILL')
    await patroni?.exited
  }

  return {
    name,
    ports,
    start(): void {
      if (!isWanted || (patroni && !patroni.isGone())) return
      const { command, environment } = programs.patroni
      // Otherwise it asks etcd for its address, and uses that instead of the link.
      const throughLink = { ...environment, PATRONI_ETCD3_USE_PROXIES: 'true' }
      patroni = launchPart(runner, join(directory, 'patroni.log'), [...command, configuration], throughLink)
    },
    /** By Patroni's own account: it holds the lock. */
    isPrimary: () =>
      request('GET', '/primary').then(
        ({ status }) => status === 200,
        () => false,
      ),
    /** The state of the cluster as Patroni reports it. */
    async members(): Promise<{ role: string; state: string }[]> {
      const { text } = await request('GET', '/cluster').catch(() => ({ text: '{}' }))
      return (JSON.parse(text) as { members?: { role: string; state: string }[] }).members ?? []
    },
    async switchOver(): Promise<void> {
      const { status, text } = await request('POST', '/switchover', { leader: name }, switchoverLimitMs)
      if (status !== 200) throw new Error(`switchover: ${status} ${text}`)
    },
    /** Its data are thrown away, and copied from the primary. */
    async reinitialize(): Promise<void> {
      const { status, text } = await request('POST', '/reinitialize', { force: true }, switchoverLimitMs)
      if (status !== 200) throw new Error(`reinitialize: ${status} ${text}`)
    },
    killPostgres: () => signal(postmasterId(), 'SIGKILL'),
    killPatroni,
    freezePatroni: () => signalPatroni('SIGSTOP'),
    thawPatroni: () => signalPatroni('SIGCONT'),
    /** As a virtual machine that is paused. */
    freezeAll(): void {
      signalPatroni('SIGSTOP')
      signalPostgres('SIGSTOP')
    },
    thawAll(): void {
      signalPostgres('SIGCONT')
      signalPatroni('SIGCONT')
    },
    /** From etcd and the other nodes; the services still reach it. */
    cutOff(): void {
      for (const link of links) link.cut()
    },
    /** Its standbys get nothing. */
    cutReplication: () => replication.cut(),
    mend(): void {
      for (const link of links) link.mend()
    },
    /** For a node that was killed while it was cut off: what it could not send is lost. */
    resetNetwork(): void {
      for (const link of links) link.reset()
    },
    hasDisk: disk !== undefined,
    fillDisk: () => disk?.fill(),
    emptyDisk: () => disk?.empty(),
    /** For a process that is about to exit. */
    endNow(): void {
      signalPatroni('SIGKILL')
      signalPostgres('SIGKILL')
      disk?.remove()
    },
    /** It is not started again. */
    async stop(): Promise<void> {
      isWanted = false
      await killPatroni()
      const pid = postmasterId()
      signalPostgres('SIGCONT')
      signal(pid, 'SIGQUIT')
      if (pid !== undefined) await until(`PostgreSQL of ${name} is gone`, () => !isAlive(pid))
    },
  }
}

/** A directory with the programs of PostgreSQL, whose server sees another time. Not Patroni: Python could not sleep. */
function shiftClock(runner: Runner, { postgresBin, faketime }: Programs, directory: string, seconds: number): string {
  makeDirectory(runner, directory)
  for (const name of readdirSync(postgresBin)) {
    if (name !== 'postgres') symlinkSync(join(postgresBin, name), join(directory, name))
  }
  const clock = `LD_PRELOAD=${faketime} FAKETIME=${seconds < 0 ? '' : '+'}${seconds}s FAKETIME_DONT_FAKE_MONOTONIC=1`
  const script = join(directory, 'postgres')
  writeFileSync(script, `#!/bin/sh\nexec env ${clock} ${postgresBin}/postgres "$@"\n`, { mode: 0o700 })
  chownSync(script, runner.uid, runner.gid)
  return directory
}

function childrenOf(parent: number): number[] {
  const ids = readdirSync('/proc').filter((id) => /^\d+$/.test(id))
  return ids.filter((id) => parentOf(id) === parent).map(Number)
}

function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
