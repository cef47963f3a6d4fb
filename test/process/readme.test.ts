// Runs the commands of the README and of the quick start as written, in a clone, from the first to the last in one shell.
// Their output equals the document, except for ids and times. The Korean documents have the same commands: they are
// compared, not run again.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import {
  assertNothingRuns,
  cleanedUp,
  defer,
  demoKeyIn,
  diskDirectory,
  launch,
  newDirectory,
  processIdFile,
  repository,
  waitUntilReady,
} from '../../harness/processes.ts'
import { isAlive } from '../../src/db/embedded/postmaster.ts'
import { cloneInto, shellIn } from '../support/service/clone.ts'

type Block = { language: string; text: string }

function blocksOf(file: string): Block[] {
  const text = fs.readFileSync(join(repository, file), 'utf8')
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', content = '']) => {
    return { language, text: content }
  })
}

/** English and Korean. The quick start continues where the README ends. */
const translated = [
  ['README.md', 'README.ko.md'],
  ['docs/quickstart.md', 'docs/quickstart.ko.md'],
] as const
const blocks = translated.flatMap(([english]) => blocksOf(english))

/** Blocks that this test does not run. */
const elsewhere = [
  { block: /^npm start .*\nnpm test .*\n$/, by: 'here and in clone.test.ts, and by .ci/run' },
  { block: /^GATEWAY=toss /, by: 'no test: it needs an account at the gateway' },
]
const runHere = ({ language, text }: Block) => language === 'sh' && !elsewhere.some(({ block }) => block.test(text))

/** Masks ids and durations, which differ in each run. */
function masked(text: string): string {
  return text
    .replaceAll(/ord_[0-9A-Z]{36}/g, 'ord_')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
    .replaceAll(/^(tookMs: +)[\d.,]+$/gm, '$1number')
    .trim()
}

/** From an address of the README to the address of this run. */
type Addresses = Record<string, string>

function typed(text: string, key: string, addresses: Addresses): string {
  const here = Object.entries(addresses).reduce(
    (line, [documented, actual]) => line.replaceAll(documented, actual),
    text,
  )
  return here.replaceAll('cpk_...', key)
}

/** A replacement for machines without curl, with the options that the documents use. */
const curl = `
const { argv } = process
const all = (name) => argv.flatMap((each, index) => (argv[index - 1] === name ? [each] : []))
const headers = all('-H').map((line) => line.split(': '))
const [body] = all('-d')
const answer = await fetch(argv.find((each) => each.startsWith('http')), { headers, ...(body && { method: 'POST', body }) })
process.stdout.write(await answer.text() + all('-w').join('').replace('\\\\n', '\\n'))
`

/** Returns a directory for PATH. */
function provideCurl(directory: string): string {
  const bin = join(directory, 'bin')
  fs.mkdirSync(bin)
  if (spawnSync('curl', ['--version']).status === 0) return bin
  fs.writeFileSync(join(bin, 'curl.mjs'), curl)
  fs.writeFileSync(join(bin, 'curl'), '#!/bin/sh\nexec node "$(dirname "$0")/curl.mjs" "$@"\n', { mode: 0o755 })
  return bin
}

test('the documented commands work: from a clone to confirmed payments, with the client and with curl, and the commands of an operator', async (t) => {
  const directory = newDirectory(t, 0o755, diskDirectory())
  const clone = cloneInto(directory)
  const dataDir = cleanedUp(t, join(clone, 'data'))
  // The page of the console, if it is built: clone.test.ts covers that a clone builds it.
  const page = join(repository, 'console/dist')
  if (fs.existsSync(page)) fs.cpSync(page, join(clone, 'console/dist'), { recursive: true })
  // No messages of npm about itself.
  const quiet = { npm_config_update_notifier: 'false', npm_config_audit: 'false' }
  const bare = shellIn(directory)
  const env = { ...bare, ...quiet, PATH: [provideCurl(directory), bare.PATH].join(delimiter) }
  const service = await waitUntilReady(() => launch(t, 'npm', ['start'], { cwd: clone, env }))
  const pid = Number(processIdFile(dataDir))
  defer(t, () => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  const [, shop = ''] = /shop +(http:\S+)/.exec(service.output.stdout) ?? []
  const addresses = { 'http://127.0.0.1:8080': service.publicUrl, 'http://127.0.0.1:8084': shop }
  const key = demoKeyIn(service.output.stdout) ?? assert.fail('no key was shown')

  const commands = blocks.filter(runHere)
  const mark = '---- the next block ----'
  const script = commands.map(({ text }) => `${typed(text, key, addresses)}\necho; echo '${mark}'\n`).join('')
  fs.writeFileSync(join(directory, 'readme.sh'), script)
  // Through a pipe: between two Node processes there is a socket, and a socket cannot be opened as /dev/stderr.
  const piped = '{ sh -e ../readme.sh; echo "ended with $?"; } 2>&1 | cat'
  const { stdout } = await launch(t, 'sh', ['-c', piped], { cwd: clone, env }).ended
  const outputs = stdout.split(mark)
  assert.equal(outputs.pop()?.trim(), 'ended with 0', stdout)
  for (const [index, block] of commands.entries()) {
    const expected = blocks[blocks.indexOf(block) + 1]
    if (!expected || expected.language === 'sh') continue
    const real = typed(expected.text, key, addresses)
    assert.equal(masked(outputs[index] ?? ''), masked(real), block.text)
  }
  assert.match(outputs.at(-1) ?? '', /^Usage: credits <command>/m)
  await service.stop()
  assertNothingRuns(dataDir)
})

test('blocks that are not run here are run elsewhere', () => {
  assert.deepEqual(
    elsewhere.map(({ block }) => blocks.filter(({ text }) => block.test(text)).length),
    elsewhere.map(() => 1),
  )
  const ci = fs.readFileSync(join(repository, '.ci/run'), 'utf8')
  assert.match(ci, /^npm test$/m)
})

/** Without comments, and without the labels of a diagram. */
const withoutComments = ({ language, text }: Block) => ({
  language,
  text:
    language === 'mermaid'
      ? text.replaceAll(/"[^"]*"/g, '""')
      : text.replaceAll(/(^|\s)(#|\/\/) .*$/gm, '').replaceAll(/ +$/gm, ''),
})

/** A picture and a document may have a Korean version. */
const withoutLanguage = (link: string) =>
  link.replace(/-korean\.png|\.ko\.md/, (end) => (/png/.test(end) ? '.png' : '.md'))

test('the Korean README has the same headings, commands, outputs and links in the same order', () => {
  const headings = (text: string) => text.split('\n').flatMap((line) => /^#+(?= )/.exec(line) ?? [])
  const links = (text: string) =>
    [...text.matchAll(/\]\(([^)]+)\)|`([^`\n]+)`/g)].map(([whole]) => withoutLanguage(whole))
  const addresses = (text: string) => [...text.matchAll(/http:\/\/[\w.:/]*\w/g)].map(([address]) => address)
  const prose = (text: string) => text.replaceAll(/^```.*?^```$/gms, '').replace(/^.*(English · |· 한국어).*$/m, '')
  for (const pair of translated) {
    const [english, korean] = pair.map((file) => prose(fs.readFileSync(join(repository, file), 'utf8')))
    assert.ok(english && korean)
    assert.deepEqual(headings(korean), headings(english))
    const [englishBlocks, koreanBlocks] = pair.map((file) => blocksOf(file).map(withoutComments))
    assert.deepEqual(koreanBlocks, englishBlocks)
    assert.deepEqual(links(korean).sort(), links(english).sort())
    assert.deepEqual(addresses(korean), addresses(english))
  }
})

test('every link of the READMEs leads to a file', () => {
  for (const file of ['README.md', 'README.ko.md']) {
    const text = fs.readFileSync(join(repository, file), 'utf8')
    const targets = [...text.matchAll(/\]\((?!http)([^)#]+)[^)]*\)/g)].map(([, target = '']) => target)
    assert.ok(targets.length > 10)
    assert.deepEqual(
      targets.filter((target) => !fs.existsSync(join(repository, target))),
      [],
    )
  }
})

test('docs/commands.md has every command and states which ask for confirmation and which are in the action log', async () => {
  const { commands } = await import('../../src/commands/command-table.ts')
  const { isRecorded } = await import('../../src/commands/command.ts')
  const text = fs.readFileSync(join(repository, 'docs/commands.md'), 'utf8')
  const rows = [...text.matchAll(/^\| (`[^|]+) \|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)]
  for (const command of commands) {
    const { name, confirm } = command
    const row = rows.find(([, names = '']) => names.includes(`\`${name}\``)) ?? assert.fail(`${name} is missing`)
    assert.equal(row[3]?.trim() !== '', confirm !== undefined, `${name} asks for confirmation`)
    assert.equal(row[4]?.trim(), isRecorded(command) ? 'yes' : '', `${name} in the action log`)
  }
})
