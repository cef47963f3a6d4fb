// No secret is ever in a log, in the metrics or in what a process says beside them, and no number of a card: looked for in all
// that any service says in any test, whoever was given the secret and whoever made it up.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cardNumbersIn } from '../../harness/card-numbers.ts'
import { createLog } from '../../src/log.ts'

/**
 * API keys, tokens of services, signing secrets, whoever was given them; sessions of operators and what their passwords are
 * kept as; secret keys of the gateway, but the one that the
 * sandbox has when nobody gives it another, and tells everybody.
 */
const secretShapes =
  /\bc(?:pk|st)_[0-9A-Za-z]{43}\b|\bwhsec_[0-9A-Za-z+/]{32,}|\bcredits_console=[\w.-]+|\$scrypt\$n=|\b(?!test_sk_sandbox\b)(?:test|live)_g?sk_\w+/g

export type Settings = Record<string, string | undefined>

/** Settings that hold secrets, and how to find these in their values. */
const secretSettings: [name: RegExp, secretsOf: (value: string) => string[]][] = [
  [/^KEY_PEPPER$/, (value) => value.split(',').map((part) => part.trim().replace(/^\d{1,9}:/, ''))],
  [/DATABASE_URL$/, passwordsIn],
  [/SECRET_KEY|TOKEN|PASSWORD/, (value) => [value]],
]

/** In DATA_DIR, where nobody gave them. */
const madeUp = ['key-pepper', 'webhook-token', 'postgres.password', 'postgres.service.password']

function passwordsIn(url: string): string[] {
  const { password = '', searchParams } = URL.parse(url) ?? {}
  return [password, decodeURIComponent(password), searchParams?.get('password') ?? '']
}

type NamedSecret = [name: string, secret: string]

function namedSecrets(settings: Settings): NamedSecret[] {
  const given = Object.entries(settings).flatMap(([name, value = '']) => {
    const secretsOf = secretSettings.find(([names]) => names.test(name))?.[1]
    return (secretsOf?.(value) ?? []).map((secret): NamedSecret => [name, secret])
  })
  const { DATA_DIR } = settings
  const files = DATA_DIR ? madeUp.map((name) => join(DATA_DIR, name)).filter(existsSync) : []
  const kept = files.map((file): NamedSecret => [file, readFileSync(file, 'utf8').trim()])
  return [...given, ...kept].filter(([, secret]) => secret.length >= 8)
}

export function secretsIn(text: string, settings: Settings = {}): string[] {
  return foundIn(text, namedSecrets(settings))
}

function foundIn(text: string, secrets: NamedSecret[]): string[] {
  const told = secrets.filter(([, secret]) => text.includes(secret)).map(([name]) => `the secret of ${name}`)
  return [...new Set([...(text.match(secretShapes) ?? []), ...told, ...cardNumbersIn(text)])]
}

/** Commands that show a new secret, this once, to whoever asked for it. */
const issues = /\b(keys|services) issue\b|\bendpoints (add|rotate)\b|\boperators (add|reset)\b/
/** Lines of the banner that do so: the demo key, and the address that the gateway is to be given. */
const bannerLines = /^ {2}(KEY=cpk_\w{43}|webhooks {3}http:\S+ .*)$/gm

/** Of all that a process has said, to people and to machines. */
export function assertSaidNoSecret(
  { stdout, stderr }: { stdout: string; stderr: string },
  args: string[],
  settings: Settings,
): void {
  const shown = issues.test(args.join(' ')) ? '' : stdout.replaceAll(bannerLines, '')
  assert.deepEqual(secretsIn(`${shown}\n${stderr}`, settings), [], 'a secret was told')
}

/** A log of everything, of which nothing is kept but the secrets in it. */
export function createWatchedLog(settings: Settings = {}, onLine: (line: string) => void = () => undefined) {
  const leaked = new Set<string>()
  const secrets = namedSecrets(settings)
  const log = createLog('trace', {
    write(line: string) {
      for (const secret of foundIn(line, secrets)) leaked.add(secret)
      onLine(line)
    },
  })
  return { log, assertNoSecret: () => assert.deepEqual([...leaked], [], 'a secret was logged') }
}
