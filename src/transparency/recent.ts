// A map of a limited size: the value that was used longest ago is forgotten first.

export type Recent<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  /** The value of the key, made and kept if there is none. */
  getOrMake(key: string, make: () => Value): Value
}

export function createRecent<Value>(atMost: number): Recent<Value> {
  const values = new Map<string, Value>()
  const recent: Recent<Value> = {
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
    getOrMake(key, make) {
      const known = recent.get(key)
      if (known !== undefined) return known
      const value = make()
      recent.set(key, value)
      return value
    },
  }
  return recent
}

/** A map of this kind for each owner, as long as the owner exists. */
export function createRecentPerOwner<Owner extends object, Value>(atMost: number) {
  const maps = new WeakMap<Owner, Recent<Value>>()
  return {
    of(owner: Owner): Recent<Value> {
      const map = maps.get(owner) ?? createRecent<Value>(atMost)
      maps.set(owner, map)
      return map
    },
    forget: (owner: Owner): boolean => maps.delete(owner),
  }
}
