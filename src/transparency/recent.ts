// A map of at most so many values, of which the oldest is forgotten first.

export type Recent<Value> = { get(key: string): Value | undefined; set(key: string, value: Value): void }

export function createRecent<Value>(atMost: number): Recent<Value> {
  const values = new Map<string, Value>()
  return {
    get: (key) => values.get(key),
    set(key, value) {
      const [oldest] = values.keys()
      if (values.size >= atMost && oldest !== undefined) values.delete(oldest)
      values.set(key, value)
    },
  }
}
