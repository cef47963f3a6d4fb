// State that belongs into a link lives in the query string: the value that needs no telling is left out.
import { useSearchParams } from 'wouter'

/** Changes what is named and leaves the rest; an empty text takes it away. */
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

/** `allowed` null: any text. What a link says beyond it is as if it said nothing. */
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
