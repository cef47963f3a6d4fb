// The inputs of a batch that wait for their statement. Without a key they form one queue. With a key, inputs of the same key
// queue behind each other and only the first of them can be taken: they never share a batch, and do not delay other keys.

export type WaitingLine<Input> = {
  readonly size: number
  add(input: Input): void
  /** Removes and returns the longest waiting inputs, at most `most`. */
  take(most: number): Input[]
}

export function createLine<Input>(): WaitingLine<Input> {
  let line: Input[] = []
  return {
    get size() {
      return line.length
    },
    add(input) {
      line.push(input)
    },
    take(most) {
      if (line.length > most) return line.splice(0, most)
      const all = line
      line = []
      return all
    },
  }
}

export function createLineByKey<Input>(keyOf: (input: Input) => string): WaitingLine<Input> {
  const lines = new Map<string, Input[]>()
  let size = 0
  return {
    get size() {
      return size
    },
    add(input) {
      const key = keyOf(input)
      const line = lines.get(key)
      if (line) line.push(input)
      else lines.set(key, [input])
      size += 1
    },
    take(most) {
      const taken: Input[] = []
      const longer: [string, Input[]][] = []
      for (const [key, line] of lines) {
        if (taken.length === most) break
        taken.push(line.shift() as Input)
        lines.delete(key)
        if (line.length > 0) longer.push([key, line])
      }
      // A key with more inputs goes to the end.
      for (const [key, line] of longer) lines.set(key, line)
      size -= taken.length
      return taken
    },
  }
}
