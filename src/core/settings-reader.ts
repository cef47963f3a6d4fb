// Reads settings from environment variables and collects what is wrong with each, so that all faults are reported at once. No
// fault shows a value that could be a secret.

export type Environment = Record<string, string | undefined>

/** An empty variable counts as not set. */
export function createReader(environment: Environment) {
  const faults: string[] = []
  const raw = (name: string) => environment[name]?.trim() || undefined
  const fault = (name: string, expected: string) => {
    faults.push(raw(name) === undefined ? `${name} is not set: ${expected} is needed` : `${name}: expected ${expected}`)
  }
  return {
    faults,
    raw,
    fault,
    integer(name: string, fallback: number, min: number, max: number): number {
      const text = raw(name)
      if (text === undefined) return fallback
      const value = Number(text)
      if (/^\d+$/.test(text) && value >= min && value <= max) return value
      fault(name, `a whole number from ${min} to ${max}, got "${text}"`)
      return fallback
    },
    oneOf<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
      const text = raw(name)
      const value = values.find((each) => each === text)
      if (text !== undefined && value === undefined) fault(name, `one of ${values.join(', ')}, got "${text}"`)
      return value ?? fallback
    },
    url(name: string, protocols: string[], fallback: string | undefined): string {
      const text = raw(name) ?? fallback
      if (text !== undefined && protocols.includes(URL.parse(text)?.protocol ?? '')) return text
      fault(name, `an absolute URL beginning with ${protocols.map((each) => `${each}//`).join(' or ')}`)
      return ''
    },
    text(name: string, expected: string, fallback: string | undefined): string {
      const text = raw(name) ?? fallback
      if (text === undefined) fault(name, expected)
      return text ?? ''
    },
  }
}

export type Reader = ReturnType<typeof createReader>
