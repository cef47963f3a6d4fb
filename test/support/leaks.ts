// No secret is ever in a log: looked for in all that any service logs in any test.
import assert from 'node:assert/strict'
import { createLog } from '../../src/log.ts'

/** API keys, tokens of services, signing secrets, whoever was given them; secret keys of the gateway. */
const secretShapes = /\bc(?:pk|st)_[0-9A-Za-z]{43}\b|\bwhsec_[0-9A-Za-z+/]{32,}|\b(?:test|live)_g?sk_\w+/g

/** Settings whose values are secrets. */
const secretSettings = /KEY_PEPPER|SECRET_KEY|TOKEN|PASSWORD/

export function secretsIn(text: string, settings: Record<string, string | undefined> = {}): string[] {
  const values = Object.entries(settings)
    .filter(([name, value]) => secretSettings.test(name) && (value ?? '').length >= 8)
    .filter(([, value]) => text.includes(value as string))
    .map(([name]) => `the value of ${name}`)
  return [...new Set([...(text.match(secretShapes) ?? []), ...values])]
}

/** Of what a process has said: its log, not what it shows to people, where a new key is shown once. */
export function assertLogsNoSecret(said: string, settings: Record<string, string | undefined>): void {
  const logged = said.split('\n').filter((line) => line.startsWith('{"level":'))
  assert.deepEqual(secretsIn(logged.join('\n'), settings), [], 'a secret was logged')
}

/** A log of everything, of which nothing is kept but the secrets in it. */
export function createWatchedLog() {
  const leaked = new Set<string>()
  const log = createLog('trace', {
    write(line: string) {
      for (const secret of secretsIn(line)) leaked.add(secret)
    },
  })
  return { log, assertNoSecret: () => assert.deepEqual([...leaked], [], 'a secret was logged') }
}
