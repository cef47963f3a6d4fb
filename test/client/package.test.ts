// The package as an external user installs it: its contents, programs in JavaScript and in TypeScript, its types under
// two compilers and two module resolutions, and every snippet of its README against the real service.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { newDirectory, repository } from '../../harness/processes.ts'
import { installTools, toolsFolder } from '../support/documents/tools.ts'
import { longOnly } from '../support/long.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'
import { log, logSigner } from '../verify/corpus.ts'
import { orderOf } from '../verify/reference-log.ts'
import { installClient, type Project, readmeBlocks, snippet } from './installed.ts'

const directory = newDirectory({ after })
let project: Project
let service: SpendingService
before(async () => {
  ;[project, service] = await Promise.all([installClient(directory), startSpendingService({ strictSandbox: false })])
})
after(() => service.close())

const installed = (...path: string[]) => join(directory, 'node_modules/@prepaid-credits/client', ...path)
const manifestOf = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

test('the package has its program, its types and its README, no dependencies and no install scripts', () => {
  const manifest = manifestOf(installed('package.json'))
  const files = readdirSync(installed(), { recursive: true, encoding: 'utf8' })
  const sources = readdirSync(join(repository, 'client/src'), { recursive: true, encoding: 'utf8' })
  const modules = new Set(sources.flatMap((name) => /^(.+?)\.(?:d\.ts|ts|js)$/.exec(name)?.[1] ?? []))
  const built = [...modules].flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`])
  const others = ['README.md', 'package.json', 'bin', 'bin/verify.mjs', 'dist', 'dist/verify']
  assert.deepEqual(files.sort(), [...others, ...built].sort())
  for (const name of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    assert.equal(manifest[name], undefined)
  assert.deepEqual(Object.keys(manifest.scripts), ['prepack'])
  assert.equal(manifest.version, manifestOf(join(repository, 'package.json')).version)
})

test('nothing in it requires Node, and no import needs a compiler', () => {
  const files = readdirSync(installed('dist'), { recursive: true, encoding: 'utf8' })
  for (const name of files.filter((file) => /\.(js|ts)$/.test(file))) {
    const text = readFileSync(installed('dist', name), 'utf8')
    const imported = [...text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(([, path]) => path)
    assert.deepEqual(
      imported.filter((path) => !/^\.\/(verify\/)?[\w-]+\.js$/.test(path ?? '')),
      [],
      name,
    )
    assert.doesNotMatch(text, /\b(Buffer|require|__dirname)\b/, name)
  }
})

test('it verifies a receipt, in a program and on the command line, by the file of the repository', async () => {
  const receipt = JSON.stringify(log.receipt({ order: orderOf(0) }, [0]))
  project.write('receipt.json', receipt)
  project.write('verify.mjs', snippet('client/verify'))
  const printed = await project.run(process.execPath, ['verify.mjs'], { LOG_KEY: logSigner.vkey })
  assert.equal(printed, 'verified 1 41n\n')
  const command = snippet('npx prepaid-credits-verify').replace('VKEY', logSigner.vkey)
  assert.match(await project.run('sh', ['-euc', command]), /^key +given$[\s\S]*^result +verified$[\s\S]*^ok +true$/m)
  const withoutKey = project.run('sh', ['-c', 'npx prepaid-credits-verify receipt.json; echo ended with $?'])
  assert.match(await withoutKey, /^result +consistent, signer not known$[\s\S]*^ended with 3$/m)
  project.write('receipt.json', receipt.replace('delta 21', 'delta 22'))
  await assert.rejects(project.run('sh', ['-euc', command]), /NOT VERIFIED: entry 1 is not at index 0/)
  const file = readFileSync(installed('dist/verify/verify.js'), 'utf8')
  assert.equal(file, readFileSync(join(repository, 'client/src/verify/verify.js'), 'utf8'))
})

/** Replaces the default addresses by those of this test. */
function withTestAddresses(text: string): string {
  return text.replaceAll('http://127.0.0.1:8080', service.url).replaceAll('http://127.0.0.1:8081', service.internal.url)
}

/** The blocks that are run as programs, each with its output in the README. */
function programs(): { code: string; output: string }[] {
  const blocks = readmeBlocks()
  return blocks.flatMap(({ language, text }, at) => {
    const next = blocks[at + 1]
    return language === 'ts' && next?.language === 'text' ? [{ code: text, output: next.text }] : []
  })
}

const firstProgram = () => programs()[0]?.code ?? ''

describe('the README', () => {
  test('its programs print the documented output, in a TypeScript project', async () => {
    const { apiKey, customerId } = await service.newCustomer()
    const { token } = service.internal.issued
    const environment = { CREDITS_API_KEY: apiKey, CREDITS_TOKEN: token, CUSTOMER_ID: customerId }
    assert.equal(programs().length, 4)
    for (const { code, output } of programs()) {
      const file = project.write('program.mts', withTestAddresses(code))
      assert.equal(await project.run(process.execPath, ['--no-warnings', file], environment), output)
    }
  })

  test('its first program is JavaScript too', async () => {
    const { apiKey } = await service.newCustomer()
    const file = project.write('program.mjs', withTestAddresses(firstProgram()))
    assert.equal(
      await project.run(process.execPath, [file], { CREDITS_API_KEY: apiKey }),
      '21 credits added, 21 in all, paid with CARD\n',
    )
  })

  test('every snippet of it is run here, or by the browser test', () => {
    const others = ['npm pack', 'creditsProxy', 'document.body', 'client/verify', 'npx prepaid-credits-verify'].map(
      snippet,
    )
    const known = [...others, ...programs().flatMap(({ code, output }) => [code, output])]
    assert.deepEqual(
      readmeBlocks().filter(({ text }) => !known.includes(text)),
      [],
    )
  })
})

describe('the types', { skip: longOnly }, () => {
  const strict = {
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    target: 'es2022',
    verbatimModuleSyntax: true,
  }
  const nodeOptions = { types: ['node'], typeRoots: [join(repository, 'node_modules/@types')], lib: ['es2022'] }
  const ways = {
    'in Node': {
      files: ['types.mts', 'readme-*.mts'],
      options: { module: 'node16', moduleResolution: 'node16', ...nodeOptions },
    },
    'for a bundler': {
      files: ['types.mts'],
      options: {
        module: 'esnext',
        moduleResolution: 'bundler',
        types: [],
        lib: ['es2022', 'dom', 'dom.asynciterable'],
      },
    },
  }
  const compilers = {
    'our own compiler': join(repository, 'node_modules/typescript/bin/tsc'),
    'the previous one': join(toolsFolder, 'node_modules/typescript/bin/tsc'),
  }
  before(async () => {
    await installTools()
    const cases = readFileSync(join(repository, 'test/client/types.ts'), 'utf8')
    project.write('types.mts', cases.replace('../../client/src/index.ts', '@prepaid-credits/client'))
    for (const [at, { language, text }] of readmeBlocks().entries()) {
      if (language === 'ts') project.write(`readme-${at}.mts`, text)
    }
  })

  const combinations = [
    ['in Node', 'our own compiler'],
    ['in Node', 'the previous one'],
    ['for a bundler', 'the previous one'],
  ] as const
  for (const [way, compiler] of combinations) {
    test(`compile ${way}, with ${compiler}`, async () => {
      const { files, options } = ways[way]
      const config = { compilerOptions: { ...strict, ...options }, include: files }
      project.write('tsconfig.json', JSON.stringify(config))
      await project.run(process.execPath, [compilers[compiler], '--project', 'tsconfig.json'])
    })
  }

  test('a mistake in a program does not compile', async () => {
    const wrong = withTestAddresses(firstProgram()).replace("packageType: 'STANDARD'", "packageType: 'GOLD'")
    project.write('wrong.mts', wrong)
    const options = { ...strict, ...ways['in Node'].options }
    project.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['wrong.mts'] }))
    const compiled = project.run(process.execPath, [compilers['our own compiler'], '--project', 'tsconfig.json'])
    await assert.rejects(compiled, /wrong\.mts.*"GOLD"/)
  })
})
