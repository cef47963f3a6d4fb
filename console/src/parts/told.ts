// What an error is called and what to do about it, in the reader's words: by the reason of a refusal where it has one, else by
// its code. Something between the page and the service may answer in its place, without a code: then by the status.
import { ApiError } from '../api/client.ts'
import type { Told } from '../words/en/problems.ts'
import type { Words } from '../words/words.tsx'

/** What a proxy says: for these three it has not reached the service, or has not heard from it. */
const byStatus: Record<number, keyof Words['problems']['codes']> = {
  401: 'AUTH001',
  403: 'AUTH003',
  404: 'NOT000',
  502: 'NO_ANSWER',
  503: 'NO_ANSWER',
  504: 'NO_ANSWER',
}

export function toldOf(error: Error, { problems }: Pick<Words, 'problems'>): Told {
  if (!(error instanceof ApiError)) return problems.page
  const { status, code, reason } = error
  const reasons: Record<string, Told> = problems.reasons
  const codes: Record<string, Told> = problems.codes
  const ofStatus = codes[byStatus[status] ?? ''] ?? (status >= 500 ? problems.codes.INT001 : problems.other)
  return reasons[reason ?? ''] ?? codes[code] ?? ofStatus
}

/** An action that failed has on the trail the code of its refusal, which has words, and a sentence of the service. */
export function refusalIn(outcome: string, { problems }: Pick<Words, 'problems'>): { code: string; told?: Told } {
  const [code = ''] = outcome.split(': ')
  const told = (problems.codes as Record<string, Told>)[code]
  return { code, ...(told && { told }) }
}
