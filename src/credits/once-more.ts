// A statement that looks for a reference and then waits for the account may have been overtaken by a twin: the unique
// index refuses it, and a second run sees the twin, which has committed by then.
import { isTwin } from '../db/database.ts'

export async function onceMore<Output>(run: () => Promise<Output>): Promise<Output> {
  return run().catch((error) => (isTwin(error) ? run() : Promise.reject(error)))
}
