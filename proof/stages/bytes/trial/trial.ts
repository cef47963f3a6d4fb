// Runs a case: fills in the real values, sends the bytes, parses and checks the answers. A finding has the bytes with
// the stand-ins, so that it has no secret and can be repeated in another run.
import { type Answer, closes, exchange, type Reading, readAnswers, type Sending } from '../../../../harness/raw-http.ts'
import type { Case } from '../cases/cases.ts'
import type { ListenerName } from '../cases/routes.ts'
import { fillIn, type Values } from '../cases/stand-ins.ts'
import { type Framed, frame } from './framing.ts'
import { type Breach, bodyOf, checkAnswer, checkExchange, type Secrets } from './oracles.ts'

export type Target = { ports: Record<ListenerName, number>; secrets: Secrets }

export type Trial = {
  breaches: Breach[]
  answers: Answer[]
  /** At least; uncertain bytes may contain more. */
  requests: number
  wasReset: boolean
  received: Buffer
}

export type Tried = Pick<Case, 'listener' | 'bytes' | 'fits' | 'sending'>

export async function tryCase({ ports, secrets }: Target, tried: Tried, values: Values): Promise<Trial> {
  const { listener, fits } = tried
  const bytes = fillIn(tried.bytes, values)
  const framed = frame(bytes)
  const read = readerFor(bytes, framed)
  const { received, ended } = await exchange({
    port: ports[listener],
    bytes,
    sending: endingFor(tried.sending, framed),
    isAnswered: (soFar) => isAnswered(read(soFar), framed),
    mayGoOn: framed.rest !== 'none',
  })
  const reading = read(received)
  const ofAnswers = reading.answers.flatMap((answer) => checkAnswer({ answer, listener, secrets }))
  return {
    breaches: [...checkExchange({ framed, reading, ended, sentBytes: bytes.length, fits }), ...ofAnswers],
    answers: reading.answers,
    requests: framed.requests.length + (framed.rest === 'none' ? 0 : Math.max(1, framed.headsInRest)),
    wasReset: ended === 'reset',
    received,
  }
}

/**
 * The server closes an idle connection only while a request is incomplete: after a complete one it waits for the next,
 * as it should.
 */
function endingFor(sending: Sending, { requests, rest, headsInRest }: Framed): Sending {
  const isOpen = rest === 'incomplete' || (rest === 'uncertain' && headsInRest + requests.length === 0)
  return sending.ending === 'stays' && !isOpen ? { ...sending, ending: 'answered' } : sending
}

function readerFor(bytes: Buffer, { requests, rest }: Framed): (received: Buffer) => Reading {
  const text = bytes.toString('latin1')
  const maybeHead = /HEAD/.test(text)
  const mayContinue = /expect/i.test(text)
  const isHead = (place: number) => {
    const request = requests[place]
    if (request) return request.method === 'HEAD'
    return rest === 'none' || !maybeHead ? false : undefined
  }
  return (received) => readAnswers(received, { isHead, mayContinue })
}

function isAnswered({ answers, fault }: Reading, { requests }: Framed): boolean {
  return fault !== undefined || answers.length >= requests.length || answers.some(closes)
}

/** Health checks and answers to HEAD have none. */
export function codeOf(answer: Answer): string {
  return String(bodyOf(answer)?.code ?? 'no code')
}
