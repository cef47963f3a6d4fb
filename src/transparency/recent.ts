// A map of at most so many values: the one that was used longest ago is forgotten first.

export type Recent<Value> = { get(key: string): Value | undefined; set(key: string, value: Value): void }

export function createRecent<Value>(atMost: number): Recent<Value> {
  const values = new Map<string, Value>()
  return {
    get(key) {
      const value = values.get(key)
      if (value === undefined) return undefined
      // A map keeps the order in which keys were added.
      values.delete(key)
      values.set(key, value)
      return value
    },
    set(key, value) {
      const [oldest] = values.keys()
      if (values.size >= atMost && oldest !== undefined) values.delete(oldest)
      values.set(key, value)
    },
  }
}
