// The package as another developer gets it: packed from a copy of the folder, unpacked beside its one dependency, and run by
// its command.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bareEnvironment, launch, newDirectory, repository } from '../../../harness/processes.ts'
import { until } from '../../../harness/until.ts'

const manifestOf = (directory: string) => JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))

test('the packed sandbox starts by its command, with its pages, and lists its scenarios', async (t) => {
  const directory = newDirectory(t)
  const copy = join(directory, 'clone/sandbox')
  const isOwn = (path: string) => !/\/sandbox\/(dist|node_modules)(\/|$)/.test(path)
  cpSync(join(repository, 'sandbox'), copy, { recursive: true, filter: isOwn })
  // The compiler alone: nothing else of the service is needed to pack.
  mkdirSync(join(directory, 'clone/node_modules'))
  for (const name of ['typescript', '@typescript']) {
    symlinkSync(join(repository, 'node_modules', name), join(directory, 'clone/node_modules', name))
  }
  const env = bareEnvironment({
    HOME: directory,
    npm_config_offline: 'true',
    npm_config_cache: join(directory, '.npm'),
  })
  const [file = ''] = execFileSync('npm', ['pack', '--silent'], { cwd: copy, env, encoding: 'utf8' }).trim().split('\n')

  const unpacked = join(directory, 'node_modules/@prepaid-credits/sandbox')
  mkdirSync(unpacked, { recursive: true })
  execFileSync('tar', ['xzf', join(copy, file), '--strip-components=1', '-C', unpacked])
  const names = readdirSync(unpacked, { recursive: true, encoding: 'utf8' })
  assert.deepEqual(
    names.filter((name) => /\.ts$|-lock\.json$|build|tsconfig/.test(name)),
    [],
  )
  for (const name of ['README.md', 'dist/main.js', 'dist/page/assets/page.css', 'dist/checkout/assets/standard.js']) {
    assert.ok(names.includes(name), name)
  }
  const manifest = manifestOf(unpacked)
  const own = manifestOf(repository)
  assert.deepEqual(manifest.dependencies, { fastify: own.dependencies.fastify })
  assert.deepEqual(manifest.devDependencies, { typescript: own.devDependencies.typescript })
  assert.equal(manifest.version, own.version)
  const imported = names
    .filter((name) => name.endsWith('.js') && !name.includes('/assets/'))
    .flatMap((name) => [
      ...readFileSync(join(unpacked, name), 'utf8').matchAll(/^(?:import|export) .* from '([^']+)'/gm),
    ])
    .map(([, from = '']) => from)
  assert.deepEqual([...new Set(imported.filter((from) => !/^(node:|\.)/.test(from)))], ['fastify'])

  symlinkSync(join(repository, 'node_modules/fastify'), join(directory, 'node_modules/fastify'))
  const main = join(unpacked, manifest.bin['toss-sandbox'])
  assert.ok(statSync(main).mode & 0o100)
  const settings = { ...env, SANDBOX_PORT: '0', DATA_DIR: join(directory, 'data') }
  const { output } = launch(t, main, [], { cwd: directory, env: settings })
  await until('the banner', () => output.stdout.includes('webhooks/resend'))
  const url = /page +(http:\S+)/.exec(output.stdout)?.[1] ?? ''
  assert.match(await (await fetch(url)).text(), /<title>.*sandbox|샌드박스<\/title>/)
  const listed = execFileSync(main, ['scenarios', '--list'], { env: settings, encoding: 'utf8' })
  assert.match(listed, /^ {2}cancel-answer-lost$/m)
})
