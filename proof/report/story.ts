// A run as a story to read: each step with its time, the requests that it sent and their answers, the faults, and the first
// state that is wrong.
import type { Failure } from '../stages/simulated/scenario/result.ts'
import type { Line } from './edn.ts'

const shownCharacters = 160

export function storyOf(lines: Line[], { check, violations, atMs, when }: Failure): string {
  const shownLines = withoutReads(
    lines.filter(({ at }) => at <= atMs),
    callsIn(violations),
  ).map(lineOf)
  const wrong = violations.slice(0, 3).map((each) => `             ${shortened(each, 1_000)}`)
  return [...shownLines, '', `${timeOf(atMs)}  ${when}: ${check}`, ...wrong, ''].join('\n')
}

/** The calls that a violation cites: its text has "call 12". */
function callsIn(violations: string[]): Set<number> {
  const cited = violations.flatMap((each) => [...each.matchAll(/\bcall (\d+)/g)])
  return new Set(cited.map(([, number]) => Number(number)))
}

/** From a quiet moment to the next step everything is read once more, for the checks only; a violation may be about that. */
function withoutReads(lines: Line[], cited: Set<number>): Line[] {
  let isQuiet = false
  return lines.filter(({ event, number }) => {
    if (event === 'quiet') isQuiet = true
    if (event === 'step') isQuiet = false
    return !isQuiet || (event === undefined && number !== undefined && cited.has(number))
  })
}

const timeOf = (ms: number) => `${(ms / 1_000).toFixed(3).padStart(9)} s`

function lineOf(line: Line): string {
  const { type, at, number, event, ...rest } = line
  const time = timeOf(at)
  if (event === 'step') return `${time}  ${rest.actor}: ${rest.what}`
  if (type === 'invoke') {
    const { op, service, ...request } = rest
    return `${time}    → ${service}  call ${number}: ${op} ${shown(request)}`
  }
  if (type === 'event') return `${time}    ${number === undefined ? '' : `${number} `}${event} ${shown(rest)}`
  const { dropped: _, message: __, ...answer } = rest
  return `${time}    ← ${type}  call ${number}: ${shown(answer)}`
}

/** Names and values, without the marks of JSON. */
function shown(fields: object): string {
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined && value !== false)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
  return shortened(texts.join(', '), shownCharacters)
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
