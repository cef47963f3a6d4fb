// The report of a run: what was sent, what was answered, and every finding with its bytes.
import type { Finding } from '../stages/bytes/trial/findings.ts'

export type Report = {
  seed: number
  minutes: number
  connectionsAtATime: number
  seconds: number
  connections: number
  requests: number
  answers: number
  /** Connections that ended with a reset. */
  resets: number
  bytes: number
  megabytesBefore: number | null
  megabytesAfter: number | null
  codes: Record<string, number>
  kinds: Record<string, number>
  log: { lines: number; messages: Record<string, number> }
  findings: Finding[]
  foundOfKind: Record<string, number>
  /** With the complete findings. */
  file: string | null
}

const shownBytes = 1_500

export function renderReport(report: Report): string {
  const { seed, seconds, codes, kinds, log, findings, foundOfKind, file } = report
  const rows = {
    connections: report.connections,
    'requests sent': report.requests,
    'answers read': report.answers,
    'bytes sent': report.bytes,
    'connections that ended with a reset': report.resets,
    'MB of memory after the warm-up': rounded(report.megabytesBefore),
    'MB of memory at the end': rounded(report.megabytesAfter),
    'lines of the log': log.lines,
  }
  return [
    `Fuzzed for ${seconds} seconds, seed ${seed}, ${report.connectionsAtATime} connections at a time.`,
    ...table('Figures:', rows),
    ...table('Answers by code:', codes),
    ...table('Inputs by mutation:', kinds),
    ...table('Log lines by level and message:', log.messages),
    ...findings.flatMap((finding, place) => findingLines(finding, place + 1)),
    ...(findings.length > 0 ? table('Findings by kind:', foundOfKind) : []),
    ...(file === null ? [] : [`Complete findings: ${file}`]),
    `${findings.length === 0 ? 'NOTHING FOUND' : 'FOUND SOMETHING'} (seed ${seed})`,
    '',
  ].join('\n')
}

function rounded(value: number | null): number | string {
  return value === null ? 'unknown' : Math.round(value)
}

function table(title: string, values: Record<string, number | string>): string[] {
  const width = Math.max(0, ...Object.keys(values).map((name) => name.length))
  const sorted = Object.entries(values).map(
    ([name, value]) => `  ${name.padEnd(width)}  ${value.toLocaleString('en-US')}`,
  )
  return [title, ...sorted, '']
}

function findingLines(
  { oracle, detail, seed, connection, ordinal, listener, kind, sent, least, received }: Finding,
  number: number,
) {
  const where =
    connection === null
      ? `seed ${seed}`
      : `seed ${seed}, connection ${connection}, ordinal ${ordinal}, ${listener} listener (${kind})`
  const texts = { sent, least, received }
  return [
    `Finding ${number}: violated: ${oracle}`,
    `  ${where}`,
    `  ${detail.slice(0, shownBytes)}`,
    ...Object.entries(texts).flatMap(([name, text]) => (text === null ? [] : [`  ${name}: '${shortened(text)}'`])),
    '',
  ]
}

function shortened(text: string): string {
  return text.length <= shownBytes
    ? text
    : `${text.slice(0, shownBytes)}' … and ${text.length - shownBytes} more characters`
}
