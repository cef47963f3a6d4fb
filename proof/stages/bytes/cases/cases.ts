// One case: the bytes of one connection, how they are cut and when the sender closes it. It follows from the seed, the
// number of the connection and its own number alone, so each can be repeated by itself.
import { createRandom, type Random } from '../../../../harness/random.ts'
import type { Answer, Sending } from '../../../../harness/raw-http.ts'
import { generatedRequest } from './generated.ts'
import { mutate } from './mutations.ts'
import { rightRequest, toBytes } from './requests.ts'
import { type ListenerName, listenerNames } from './routes.ts'

export type Case = {
  connection: number
  ordinal: number
  listener: ListenerName
  /** How it was made, for the figures. */
  kind: string
  /** With stand-ins. */
  bytes: Buffer
  /** For each valid request at the beginning: whether an answer fits it. */
  fits: ((answer: Answer) => boolean)[]
  sending: Sending
}

/** Shares of the inputs. Answers to valid requests show whether their order is kept. */
const shares = [
  { kind: 'mutated', share: 0.5 },
  { kind: 'generated', share: 0.34 },
  { kind: 'noise', share: 0.03 },
  { kind: 'right', share: 0.13 },
] as const

const listenerShares: readonly [ListenerName, ...ListenerName[]] = [
  'public',
  'public',
  'public',
  'internal',
  'internal',
  'webhook',
]

export function caseOf(seed: number, connection: number, ordinal: number): Case {
  const random = createRandom(mixed(seed, connection, ordinal))
  const mark = `${seed}-${connection}-${ordinal}`
  const listener = random.pick(listenerShares)
  const { kind, bytes, fits } = inputs[anyKind(random)](random, listener, mark)
  return { connection, ordinal, listener, kind, bytes, fits, sending: sendingOf(random, bytes.length) }
}

/** Hashes the numbers, so that neighbours get unrelated seeds. */
function mixed(...numbers: number[]): number {
  return (
    numbers.reduce((sum, number) => Math.imul(sum ^ (number + 0x9e3779b9), 0x85ebca6b) ^ (sum >>> 13), 0x2545f491) >>> 0
  )
}

type Kind = (typeof shares)[number]['kind']
type Input = { kind: string; bytes: Buffer; fits: Case['fits'] }

function anyKind(random: Random): Kind {
  let left = random.integer(0, 999) / 1_000
  const found = shares.find(({ share }) => {
    left -= share
    return left < 0
  })
  return found?.kind ?? 'right'
}

const inputs: Record<Kind, (random: Random, listener: ListenerName, mark: string) => Input> = {
  right: (random, listener, mark) => {
    const { bytes, fits } = rightOnes(random, listener, mark, random.integer(1, 6))
    return { kind: 'right', bytes, fits }
  },
  /** After some valid requests, and sometimes before one. */
  mutated: (random, listener, mark) => {
    const before = rightOnes(random, listener, `${mark}-b`, random.chance(0.3) ? random.integer(1, 4) : 0)
    const victim = toBytes(
      random.chance(0.7) ? rightRequest(random, listener, mark).message : generatedRequest(random, listener, mark),
    )
    // For any listener, so that requests for another one are spliced in too.
    const other = toBytes(rightRequest(random, random.pick(listenerNames), `${mark}-o`).message)
    const { bytes, names } = mutate(victim, random, other)
    const after = rightOnes(random, listener, `${mark}-a`, random.chance(0.2) ? 1 : 0)
    return { kind: names.join(' + '), bytes: Buffer.concat([before.bytes, bytes, after.bytes]), fits: before.fits }
  },
  generated: (random, listener, mark) => {
    const before = rightOnes(random, listener, `${mark}-b`, random.chance(0.1) ? 1 : 0)
    const bytes = toBytes(generatedRequest(random, listener, mark))
    return { kind: 'generated', bytes: Buffer.concat([before.bytes, bytes]), fits: before.fits }
  },
  noise: (random, listener, mark) => {
    const before = rightOnes(random, listener, `${mark}-b`, random.chance(0.3) ? 1 : 0)
    const noise = Buffer.from(Array.from({ length: random.integer(1, 600) }, () => random.integer(0, 255)))
    return { kind: 'noise', bytes: Buffer.concat([before.bytes, noise]), fits: before.fits }
  },
}

function rightOnes(random: Random, listener: ListenerName, mark: string, count: number) {
  const right = Array.from({ length: count }, (_, place) => rightRequest(random, listener, `${mark}-${place}`))
  return { bytes: Buffer.concat(right.map(({ message }) => toBytes(message))), fits: right.map(({ fits }) => fits) }
}

const wholeShare = 0.6
const mostCuts = 12
const leavesShare = 0.15
const staysShare = 0.02

function sendingOf(random: Random, length: number): Sending {
  const ending = random.chance(staysShare) ? 'stays' : random.chance(leavesShare) ? 'at once' : 'answered'
  if (random.chance(wholeShare) || length < 2) return { cuts: [], pauseMs: 0, ending }
  const cuts = Array.from({ length: random.integer(1, mostCuts) }, () => random.integer(1, length - 1))
  return { cuts: [...new Set(cuts)].toSorted((one, other) => one - other), pauseMs: random.pick([0, 1, 5, 25]), ending }
}
