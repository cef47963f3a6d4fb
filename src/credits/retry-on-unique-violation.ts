// A statement that looks a reference up and then waits for the account may be overtaken by another request with the same
// reference. The unique index refuses it, and a second run finds the other request's entry, which has committed by then.
import { isUniqueViolation } from '../db/database.ts'

export async function retryOnUniqueViolation<Output>(run: () => Promise<Output>): Promise<Output> {
  return run().catch((error) => (isUniqueViolation(error) ? run() : Promise.reject(error)))
}
