// No secret and no card number is ever in a log, in the metrics or in other output of a process. The output of every service
// in every test is searched, for given and for generated secrets.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cardNumbersIn } from '../../harness/card-numbers.ts'
import { createLog } from '../../src/log.ts'

/**
 * API keys, service tokens and signing secrets of any owner; sessions and password hashes of operators; secret keys of the
 * gateway, except the public default key of the sandbox.
 */
const secretShapes =
  /\bc(?:pk|st)_[0-9A-Za-z]{43}\b|\bwhsec_[0-9A-Za-z+/]{32,}|\bcredits_console=[\w.-]+|\$scrypt\$n=|\b(?!test_sk_sandbox\b)(?:test|live)_g?sk_\w+/g

export type Settings = Record<string, string | undefined>

/** Settings that contain secrets, and how to find the secrets in their values. */
const secretSettings: [name: RegExp, secretsOf: (value: string) => string[]][] = [
  [/^KEY_PEPPER$/, (value) => value.split(',').map((part) => part.trim().replace(/^\d{1,9}:/, ''))],
  [/DATABASE_URL$/, passwordsIn],
  [/SECRET_KEY|TOKEN|PASSWORD/, (value) => [value]],
]

/** Files in DATA_DIR with generated secrets. */
const generatedFiles = ['key-pepper', 'webhook-token', 'postgres.password', 'postgres.service.password']

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
  const files = DATA_DIR ? generatedFiles.map((name) => join(DATA_DIR, name)).filter(existsSync) : []
  const kept = files.map((file): NamedSecret => [file, readFileSync(file, 'utf8').trim()])
  return [...given, ...kept].filter(([, secret]) => secret.length >= 8)
}

export function secretsIn(text: string, settings: Settings = {}): string[] {
  return foundIn(text, namedSecrets(settings))
}

function foundIn(text: string, secrets: NamedSecret[]): string[] {
  const named = secrets.filter(([, secret]) => text.includes(secret)).map(([name]) => `the secret of ${name}`)
  return [...new Set([...(text.match(secretShapes) ?? []), ...named, ...cardNumbersIn(text)])]
}

/** Commands that print a new secret once. */
const issues = /\b(keys|services) issue\b|\bendpoints (add|rotate)\b|\boperators (add|reset)\b/
/** Lines of the banner with a secret: the demo key, and the webhook address for the gateway. */
const bannerLines = /^ {2}(KEY=cpk_\w{43}|webhooks {3}http:\S+ .*)$/gm

/** Searches the whole output of a process. */
export function assertNoSecretPrinted(
  { stdout, stderr }: { stdout: string; stderr: string },
  args: string[],
  settings: Settings,
): void {
  const shown = issues.test(args.join(' ')) ? '' : stdout.replaceAll(bannerLines, '')
  assert.deepEqual(secretsIn(`${shown}\n${stderr}`, settings), [], 'a secret was printed')
}

/** A log at level trace, of which only the secrets found in it are kept. */
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
