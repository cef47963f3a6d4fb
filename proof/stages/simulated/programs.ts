// Starts programs that run simulations, with one template database for all of them.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { bareEnvironment, repository } from '../../../harness/processes.ts'
import { openTemplate } from './core/template.ts'
import type { RunAnswer, RunRequest } from './runner.ts'
import type { RunResult } from './scenario/result.ts'

export type Programs = Awaited<ReturnType<typeof openPrograms>>

export type Runner = {
  run(request: Omit<RunRequest, 'place' | 'guard'>): Promise<RunResult>
  close(): Promise<void>
}

const program = fileURLToPath(new URL('./runner.ts', import.meta.url))

export async function openPrograms() {
  const { directory, socketPath, owner, servingRole, close } = await openTemplate()
  const place = { directory, socketPath, owner: { ...owner }, servingRole }

  /** What ran in it before may have left something in its modules: a fresh one has nothing. */
  function openRunner(guard?: string): Runner {
    const child = fork(program, [], {
      cwd: repository,
      env: bareEnvironment(),
      execArgv: ['--disable-proto=delete'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const ended = once(child, 'exit').then(([code]): RunAnswer => ({ error: `the program ended with ${code}` }))
    return {
      async run(wanted) {
        const request: RunRequest = { place, guard, ...wanted }
        const waiting = new AbortController()
        const answered = once(child, 'message', { signal: waiting.signal }).then(([answer]) => answer as RunAnswer)
        answered.catch(() => undefined)
        child.send(request)
        const answer = await Promise.race([answered, ended])
        waiting.abort()
        if ('error' in answer) throw new Error(answer.error)
        return answer.result
      },
      async close() {
        child.kill('SIGKILL')
        await ended
      },
    }
  }

  return { openRunner, close }
}
