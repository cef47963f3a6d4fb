// The translated text of an error: by the reason of a refusal if it has one, else by its code. A proxy may answer in place of the
// service, without a code: then by the status.
import { ApiError } from '../api/client.ts'
import type { ProblemText } from '../words/en/problems.ts'
import type { Words } from '../words/words.tsx'

/** For 502 to 504 the proxy has not reached the service or got no response. */
const byStatus: Record<number, keyof Words['problems']['codes']> = {
  401: 'AUTH001',
  403: 'AUTH003',
  404: 'NOT000',
  502: 'NO_ANSWER',
  503: 'NO_ANSWER',
  504: 'NO_ANSWER',
}

export function errorTextOf(error: Error, { problems }: Pick<Words, 'problems'>): ProblemText {
  if (!(error instanceof ApiError)) return problems.page
  const { status, code, reason } = error
  const reasons: Record<string, ProblemText> = problems.reasons
  const codes: Record<string, ProblemText> = problems.codes
  const ofStatus = codes[byStatus[status] ?? ''] ?? (status >= 500 ? problems.codes.INT001 : problems.other)
  return reasons[reason ?? ''] ?? codes[code] ?? ofStatus
}

/** The text for the reason of a refusal in the action log, or for the field that was refused. */
export function textOfRefusal(refusal: string, { problems }: Pick<Words, 'problems'>): string | undefined {
  const reason = (problems.reasons as Record<string, ProblemText>)[refusal]
  if (reason) return [reason.title, reason.hint].filter((part) => part !== null).join(' ')
  return (problems.fields as Record<string, string>)[refusal]
}

/** The outcome of a failed action in the action log is the code of the refusal, which has a text, and the message. */
export function refusalIn(
  outcome: string,
  { problems }: Pick<Words, 'problems'>,
): { code: string; text?: ProblemText } {
  const [code = ''] = outcome.split(': ')
  const text = (problems.codes as Record<string, ProblemText>)[code]
  return { code, ...(text && { text }) }
}
