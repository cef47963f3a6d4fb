// When the console page is built and when it is not, and that a partial build is never visible. The bundler is replaced here;
// every test that opens the console in a browser uses the real one.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildConsole } from '../../console/build.ts'
import { newDirectory } from '../../harness/processes.ts'

const sources = {
  'console/index.html': '<!doctype html>',
  'console/build.ts': '// builds',
  'console/src/main.tsx': '// starts',
  'console/src/words/en/home.ts': '// says',
  'src/console/endpoints.ts': '// names',
  'src/operators/permissions.ts': '// allows',
  'package-lock.json': '{}',
}

function newProject(t: TestContext) {
  const root = newDirectory(t)
  for (const [file, text] of Object.entries(sources)) {
    mkdirSync(join(root, file, '..'), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  let made = 0
  async function make(_root: string, into: string): Promise<void> {
    made += 1
    mkdirSync(join(into, 'assets'))
    writeFileSync(join(into, 'assets/index-abc.js'), `// ${made}`)
    writeFileSync(join(into, 'index.html'), `page ${made}`)
  }
  const page = () => readFileSync(join(root, 'console/dist/index.html'), 'utf8')
  return { root, make, page, built: () => buildConsole(root, make), left: () => readdirSync(join(root, 'console')) }
}

test('the page is built and compressed when it is missing, and not built again while nothing has changed', async (t) => {
  const { root, built, page, left } = newProject(t)
  assert.equal(await built(), 'built')
  assert.equal(await built(), 'fresh')
  assert.equal(page(), 'page 1')
  assert.deepEqual(readdirSync(join(root, 'console/dist/assets')), [
    'index-abc.js',
    'index-abc.js.br',
    'index-abc.js.gz',
  ])
  assert.deepEqual(left().sort(), ['build.ts', 'dist', 'index.html', 'src'])
})

for (const file of Object.keys(sources)) {
  test(`a change of ${file} rebuilds the page`, async (t) => {
    const { root, built, page } = newProject(t)
    await built()
    writeFileSync(join(root, file), 'something else')
    assert.equal(await built(), 'built')
    assert.equal(page(), 'page 2')
  })
}

test('renaming, adding or deleting a source file rebuilds the page', async (t) => {
  const { root, built } = newProject(t)
  const file = (name: string) => join(root, 'console/src', name)
  await built()
  renameSync(file('main.tsx'), file('start.tsx'))
  assert.equal(await built(), 'built')
  writeFileSync(file('app.tsx'), '// more')
  assert.equal(await built(), 'built')
  rmSync(file('app.tsx'))
  assert.equal(await built(), 'built')
  assert.equal(await built(), 'fresh')
})

test('a failed build leaves the existing page', async (t) => {
  const { root, built, page, left } = newProject(t)
  await built()
  writeFileSync(join(root, 'console/src/main.tsx'), 'broken')
  await assert.rejects(
    buildConsole(root, async () => {
      throw new Error('no such thing')
    }),
    /no such thing/,
  )
  assert.equal(page(), 'page 1')
  assert.deepEqual(left().sort(), ['build.ts', 'dist', 'index.html', 'src'])
})

test('concurrent builds leave one complete page and no other files', async (t) => {
  const { root, built, left } = newProject(t)
  await built()
  for (const content of ['one', 'two', 'three', 'four', 'five', 'six']) {
    writeFileSync(join(root, 'console/src/main.tsx'), content)
    await Promise.all(Array.from({ length: 5 }, built))
    assert.equal(await built(), 'fresh')
  }
  assert.deepEqual(readdirSync(join(root, 'console/dist')).sort(), ['assets', 'index.html', 'made-from'])
  assert.deepEqual(left().sort(), ['build.ts', 'dist', 'index.html', 'src'])
})
