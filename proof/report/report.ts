// What a run prints at its end: a heading, tables, and a verdict with the seed, in the same form for every stage.
import type { Check } from '../model/checks/evidence.ts'
import type { Figures } from '../model/figures.ts'
import type { Finding } from '../stages/bytes/trial/findings.ts'
import type { Fired } from '../world/gateway.ts'
import type { Result } from './record.ts'

type Cell = number | string | null

/** One without rows is left out. */
export type Table = { title: string; rows: Record<string, Cell> | string[] }

export type Report = { heading: string[]; tables: Table[]; verdict: string; seed: number }

export function renderTable({ title, rows }: Table): string {
  const lines = Array.isArray(rows) ? rows : columns(Object.entries(rows))
  return [`${title}:`, ...lines.map((line) => `  ${line}`), ''].join('\n')
}

function columns(rows: [name: string, value: Cell][]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${(value ?? 'unknown').toLocaleString('en-US')}`)
}

export function renderReport({ heading, tables, verdict, seed }: Report): string {
  const shown = tables.filter(({ rows }) => Object.keys(rows).length > 0).map(renderTable)
  return [...heading, '', ...shown, `${verdict} (seed ${seed})`, ''].join('\n')
}

export type CampaignResult = {
  verdict: 'PASSED' | 'FAILED' | 'INVALID'
  seed: number
  minutes: number
  fired: Record<string, number>
  gatewayFaults: Fired[]
  figures: Figures
  checks: Check[]
  /** What did not happen often enough. */
  missing: string[]
  directory: string | null
}

const shownViolations = 5

export function reportOfCampaign(result: CampaignResult): Report {
  const { seed, minutes, fired, gatewayFaults, figures, checks, missing, directory, verdict } = result
  return {
    heading: [
      `Fault campaign, seed ${seed}, ${minutes} minutes under load.`,
      'The plan of the faults and of each client follows from the seed; how they interleave does not.',
    ],
    tables: [
      { title: 'Faults and outside actions', rows: fired },
      { title: 'Faults of the gateway, by call', rows: byCall(gatewayFaults) },
      { title: 'Figures', rows: figures },
      { title: 'Checks', rows: checks.flatMap(checkLines) },
      { title: 'Too few of', rows: missing },
      { title: 'History, logs and journal', rows: directory === null ? [] : [directory] },
    ],
    verdict,
    seed,
  }
}

export function resultOfCampaign({ verdict, checks, figures, fired, gatewayFaults }: CampaignResult): Result {
  const kept = ['API calls', 'orders', 'payments captured', 'spends', 'operator calls that were answered']
  const faults = Object.values(fired).reduce((sum, times) => sum + times, 0)
  const ofGateway = gatewayFaults.reduce((sum, { times }) => sum + times, 0)
  return {
    verdict,
    figures: {
      checks: checks.length,
      ...Object.fromEntries(kept.map((name) => [name, figures[name] ?? 0])),
      'faults and outside actions': faults,
      'faults of the gateway': ofGateway,
    },
  }
}

function byCall(gatewayFaults: Fired[]): string[] {
  return [...Map.groupBy(gatewayFaults, ({ on }) => on)].map(([on, ofCall]) => {
    const kinds = ofCall.toSorted((one, other) => other.times - one.times)
    return `${on}: ${kinds.map(({ kind, times }) => `${kind} ${times}`).join(', ')}`
  })
}

function checkLines({ id, title, violations }: Check): string[] {
  const result = violations.length === 0 ? 'pass' : `${violations.length} VIOLATIONS`
  const shown = violations.slice(0, shownViolations).map((each) => `         ${each}`)
  return [`${result.padEnd(4)}  ${id.padEnd(6)}  ${title}`, ...shown]
}

export type CallsResult = {
  verdict: CampaignResult['verdict']
  seed: number
  minutes: number
  fired: Record<string, number>
  /** How often each call had a fault. */
  calls: Record<string, number>
  figures: Record<string, number>
  failures: string[]
  missing: string[]
}

export function reportOfCalls({
  verdict,
  seed,
  minutes,
  fired,
  calls,
  figures,
  failures,
  missing,
}: CallsResult): Report {
  return {
    heading: [`Faults at single calls of the database and the gateway, seed ${seed}, ${minutes} minutes.`],
    tables: [
      { title: 'Faults', rows: fired },
      { title: 'Calls with a fault', rows: calls },
      { title: 'Figures', rows: figures },
      { title: 'Violations', rows: failures },
      { title: 'Too few of', rows: missing },
    ],
    verdict,
    seed,
  }
}

export type BytesResult = {
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

export function resultOfBytes({ requests, answers, findings, megabytesBefore, megabytesAfter }: BytesResult): Result {
  return {
    verdict: verdictOfBytes(findings),
    figures: {
      'requests sent': requests,
      'answers read': answers,
      findings: findings.length,
      'MB of memory after the warm-up': Math.round(megabytesBefore ?? 0),
      'MB at the end': Math.round(megabytesAfter ?? 0),
    },
  }
}

const verdictOfBytes = (findings: Finding[]) => (findings.length === 0 ? 'NOTHING FOUND' : 'FOUND SOMETHING')

export function reportOfBytes(result: BytesResult): Report {
  const { seed, seconds, codes, kinds, log, findings, foundOfKind, file } = result
  const rounded = (megabytes: number | null) => megabytes && Math.round(megabytes)
  const figures = {
    connections: result.connections,
    'requests sent': result.requests,
    'answers read': result.answers,
    'bytes sent': result.bytes,
    'connections that ended with a reset': result.resets,
    'MB of memory after the warm-up': rounded(result.megabytesBefore),
    'MB of memory at the end': rounded(result.megabytesAfter),
    'lines of the log': log.lines,
  }
  return {
    heading: [`Fuzzed for ${seconds} seconds, seed ${seed}, ${result.connectionsAtATime} connections at a time.`],
    tables: [
      { title: 'Figures', rows: figures },
      { title: 'Answers by code', rows: codes },
      { title: 'Inputs by mutation', rows: kinds },
      { title: 'Log lines by level and message', rows: log.messages },
      ...findings.map(tableOfFinding),
      { title: 'Findings by kind', rows: foundOfKind },
      { title: 'Complete findings', rows: file === null ? [] : [file] },
    ],
    verdict: verdictOfBytes(findings),
    seed,
  }
}

function tableOfFinding(finding: Finding, place: number): Table {
  const { oracle, detail, seed, connection, ordinal, listener, kind, sent, least, received } = finding
  const ofCase =
    connection === null ? '' : `, connection ${connection}, ordinal ${ordinal}, ${listener} listener (${kind})`
  const texts = Object.entries({ sent, least, received }).filter(([, text]) => text !== null)
  return {
    title: `Finding ${place + 1}: violated: ${oracle}`,
    rows: [
      `seed ${seed}${ofCase}`,
      detail.slice(0, shownBytes),
      ...texts.map(([name, text]) => `${name}: '${shortened(text ?? '')}'`),
    ],
  }
}

function shortened(text: string): string {
  return text.length <= shownBytes
    ? text
    : `${text.slice(0, shownBytes)}' … and ${text.length - shownBytes} more characters`
}
