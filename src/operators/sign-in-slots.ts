// Places for those who sign in: no one network takes them all, so that whoever is in another still finds one. To hash a
// password takes 64 MB and more than a third of a second, and whoever signs in must not take either from those who pay: that
// goes one after the other. Whoever finds no place comes again.

export type Places = {
  /** For those of this network. */
  isFull(network: string): boolean
  /** For whoever has asked before, in the same breath, whether there is a place. */
  hold<Value>(network: string, work: () => Promise<Value>): Promise<Value>
}

export function createPlaces(most: number, mostOfNetwork: number): Places {
  const present: string[] = []
  return {
    isFull: (network) => present.length >= most || present.filter((each) => each === network).length >= mostOfNetwork,
    async hold(network, work) {
      present.push(network)
      try {
        return await work()
      } finally {
        present.splice(present.indexOf(network), 1)
      }
    },
  }
}

/** The same, and each when those before have ended. */
export function createTurns(most: number, mostOfNetwork: number): Places {
  const { isFull, hold } = createPlaces(most, mostOfNetwork)
  let last: Promise<unknown> = Promise.resolve()
  return {
    isFull,
    hold: (network, work) =>
      hold(network, () => {
        const mine = last.then(work)
        last = mine.catch(() => undefined)
        return mine
      }),
  }
}
