// Whatever was logged in whatever trouble: no API key, no secret of the gateway, no pepper, no token, no password.
import { readFileSync } from 'node:fs'
import type { World } from '../world.ts'
import type { Check } from './evidence.ts'

const apiKeys = /cpk_[0-9A-Za-z]{43}/g

export function checkSecrets({ services, secrets }: World): Check {
  const violations = services.flatMap(({ logFile, name }) => {
    const text = readFileSync(logFile, 'utf8')
    const keys = new Set(text.match(apiKeys))
    const found = Object.entries(secrets).filter(([, secret]) => text.includes(secret))
    return [
      ...[...keys].map((key) => `the log of service ${name} has the API key …${key.slice(-4)}`),
      ...found.map(([what]) => `the log of service ${name} has ${what}`),
    ]
  })
  return { id: 'I-28', title: 'no secret in any line of the logs', violations }
}
