// What the contenders have in common: they are told what to stand on by their environment, say where they listen to
// whoever started them, and end with it.

export type Listening = { publicPort: number; internalPort: number }

export function announce(listening: Listening, close: () => Promise<void>): void {
  process.send?.(listening)
  const end = () => close().finally(() => process.exit(0))
  process.once('SIGTERM', end)
  process.once('disconnect', end)
}

export function portOf(url: string): number {
  return Number(new URL(url).port)
}
