// What the contenders share: they read their settings from the environment, send their ports to the process that
// started them, and end with it.

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
