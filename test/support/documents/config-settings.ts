// The names of all settings, as src/config.ts reads them, to check the documents against.
import { readFileSync } from 'node:fs'
import { readConfig } from '../../../src/config.ts'
import { defaultFirstPasswordHours } from '../../../src/operators/passwords.ts'

/** Reads the config in both modes, with all defaults and with all settings given. */
export function readSettingNames(): string[] {
  const names = new Set<string>()
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
  for (const given of [{}, { NODE_ENV: 'production' }, { GATEWAY: 'toss' }, tracing]) {
    const environment = new Proxy(given as Record<string, string>, {
      get(target, name: string) {
        names.add(name)
        return target[name]
      },
    })
    try {
      readConfig(environment)
    } catch {
      // A missing setting fails the config, but its name was read, which is enough here.
    }
  }
  return [...names].sort()
}

const named: Record<string, number> = { hour: 3_600_000, defaultFirstPasswordHours }

/** The defaults of numeric settings, as written in src/config.ts. */
export function readNumberDefaults(): Map<string, number> {
  const text = readFileSync(new URL('../../../src/config.ts', import.meta.url), 'utf8')
  return new Map(
    [...text.matchAll(/read\.integer\('(\w+)', ([^,]+),/g)].map(([, name = '', value = '']) => {
      const factors = value.split(' * ').map((each) => named[each] ?? Number(each.replaceAll('_', '')))
      return [name, factors.reduce((product, each) => product * each, 1)]
    }),
  )
}
