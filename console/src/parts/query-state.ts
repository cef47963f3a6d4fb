// State that belongs in a link is stored in the query string; default values are left out.
import { useSearchParams } from 'wouter'

/** Changes the given parameters and keeps the others; an empty text removes one. */
export function useQueryChanges(): (changes: Record<string, string>) => void {
  const [, setParameters] = useSearchParams()
  return (changes) =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before)
        for (const [name, value] of Object.entries(changes)) {
          if (value) after.set(name, value)
          else after.delete(name)
        }
        return after
      },
      { replace: true },
    )
}

/** `allowed` null: any text. A value that is not allowed is ignored. */
export function useQueryState<Value extends string>(
  name: string,
  allowed: readonly Value[] | null,
  fallback: Value,
): [Value, (value: Value) => void] {
  const [parameters] = useSearchParams()
  const change = useQueryChanges()
  const found = parameters.get(name) as Value | null
  const value = found !== null && (allowed === null || allowed.includes(found)) ? found : fallback
  return [value, (next) => change({ [name]: next === fallback ? '' : next })]
}
