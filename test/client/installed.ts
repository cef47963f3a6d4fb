// The client as an external user gets it: packed from a copy of its folder, with a compiler and without the service, installed
// in an empty project by the commands of its README, without a network. Also the snippets of that README, as files of the
// project.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bareEnvironment, repository } from '../../harness/processes.ts'

export type Block = { language: string; text: string }

/** The fenced blocks, in order. */
export function readmeBlocks(): Block[] {
  const readme = readFileSync(join(repository, 'client/README.md'), 'utf8')
  return [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
}

/** The one snippet that contains this text; several matches are an error. */
export function snippet(part: string): string {
  const found = readmeBlocks().filter(({ text }) => text.includes(part))
  assert.equal(found.length, 1, part)
  return found[0]?.text ?? ''
}

export type Project = Awaited<ReturnType<typeof installClient>>

export async function installClient(directory: string) {
  const client = join(directory, 'prepaid-credits/client')
  const isMade = (path: string) => /\/client\/(dist|node_modules)/.test(path)
  cpSync(join(repository, 'client'), client, { recursive: true, filter: (path) => !isMade(path) })
  // What `npm ci` installs there.
  mkdirSync(join(client, 'node_modules'))
  symlinkSync(join(repository, 'node_modules/typescript'), join(client, 'node_modules/typescript'))

  const offline = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_cache: join(directory, '.cache') }
  const env = bareEnvironment({ ...offline, HOME: directory, CREDITS_API_KEY: undefined })

  /** Throws with the output when the command fails. */
  function run(command: string, args: string[], more: Record<string, string> = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(command, args, { cwd: directory, env: { ...env, ...more } }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`))
        else resolve(stdout)
      })
    })
  }

  await run('sh', ['-euc', snippet('npm pack')])
  return {
    directory,
    run,
    write(name: string, text: string): string {
      const file = join(directory, name)
      writeFileSync(file, text)
      return file
    },
  }
}
