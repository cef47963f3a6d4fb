// A statement that looks for a reference and then waits for the account may have been overtaken by another request with the
// same reference. The unique index refuses it then, and the second run sees that request's row, which is committed by then.
import { isUniqueViolation } from '../db/database.ts'

export async function retryOnUniqueViolation<Output>(run: () => Promise<Output>): Promise<Output> {
  return run().catch((error) => (isUniqueViolation(error) ? run() : Promise.reject(error)))
}
