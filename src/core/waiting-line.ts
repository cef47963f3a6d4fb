// Where inputs of a batch wait. Without a key they stand in one line. With one, those of the same key stand behind each
// other and only the first of them can be taken: they never share a batch, and they do not hold up the others.

export type WaitingLine<Input> = {
  readonly size: number
  add(input: Input): void
  /** The longest waiting, at most so many. */
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

export function createLanes<Input>(keyOf: (input: Input) => string): WaitingLine<Input> {
  const lanes = new Map<string, Input[]>()
  let size = 0
  return {
    get size() {
      return size
    },
    add(input) {
      const key = keyOf(input)
      const lane = lanes.get(key)
      if (lane) lane.push(input)
      else lanes.set(key, [input])
      size += 1
    },
    take(most) {
      const taken: Input[] = []
      const longer: [string, Input[]][] = []
      for (const [key, lane] of lanes) {
        if (taken.length === most) break
        taken.push(lane.shift() as Input)
        lanes.delete(key)
        if (lane.length > 0) longer.push([key, lane])
      }
      // A lane with more goes to the end.
      for (const [key, lane] of longer) lanes.set(key, lane)
      size -= taken.length
      return taken
    },
  }
}
