// The verdict and the report. PASSED: every check holds and every kind of fault and request occurred often enough.
// FAILED: a check does not hold. INVALID: no violation, but too little happened for that to prove anything.

import { dropNames } from '../model/actions/exchange.ts'
import { outsideActions } from '../model/actions/outside-actions.ts'
import type { Check } from '../model/checks/evidence.ts'
import type { Figures } from '../model/figures.ts'
import { primaryChanged } from '../stages/patroni/failovers.ts'
import { clockShifted, type Fault, faults } from '../stages/processes/faults.ts'
import { gatewayFaultNames } from '../stages/processes/gateway-faults.ts'
import type { Fired } from '../world/gateway.ts'

export type Verdict = 'PASSED' | 'FAILED' | 'INVALID'

export type Report = {
  verdict: Verdict
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

/** Per minute of load, on two shared cores. */
const leastPerMinute: Record<string, number> = {
  'API calls': 1_000,
  orders: 100,
  'payments captured': 60,
  'orders cancelled': 12,
  'orders expired by the clock': 5,
  spends: 50,
  holds: 40,
  'parts of holds captured': 5,
  'holds extended': 2,
  'holds captured': 10,
  'holds released': 5,
  'holds expired': 5,
  'captures and releases that came too late': 8,
  'reversals that went through': 8,
  'reversals refused': 5,
  receipts: 5,
  'spends and holds refused by a budget': 8,
  'spends and holds refused because the customer was suspended': 0,
  'events delivered': 80,
  'events delivered again': 15,
  'events of low credits': 4,
  'events signed with two secrets': 1,
  'operator calls that were answered': 60,
  'operator calls with a session from before a restart': 10,
  'operator sign-ins': 1,
  'operator settlements': 1,
  'operator refunds': 1,
  'operator resends of events': 1,
  'operator reconciliations': 1,
  'operator resolutions': 1,
  'keys issued': 3,
  'keys suspended': 3,
  'keys activated': 1,
  'calls refused for a suspended key': 5,
  recoveries: 8,
  'commits in doubt (log)': 10,
  'connections dropped by clients': 15,
}

/** For a run below a minute, which shows that the parts work together and not that nothing goes wrong. */
const leastOfShortRun: Record<string, number> = {
  'API calls': 100,
  orders: 10,
  'payments captured': 5,
  spends: 10,
  holds: 10,
  'events delivered': 10,
  'operator calls that were answered': 10,
  'operator sign-ins': 1,
  'service killed': 1,
}

const shareBetweenFailovers = 0.1
/** Long enough for each kind of failover. */
const longMinutes = 10

/** From a minute on every kind has to occur at least once. */
export function findMissing(
  minutes: number,
  fired: Record<string, number>,
  figures: Figures,
  table: Fault[] = faults,
): string[] {
  if (minutes < 1) {
    const lost = hasFailovers(table) ? primaryChanged : 'database crashed'
    const short = Object.entries({ ...leastOfShortRun, [lost]: 1 })
    return tooFew(short.map(([name, times]) => ({ name, times, got: fired[name] ?? figures[name] })))
  }
  // Failovers leave the services without a database for most of the time.
  const share = isCluster(table) ? shareBetweenFailovers : 1
  const least = (perMinute: number) => Math.max(Math.floor(perMinute * minutes * share), 1)
  return tooFew([
    ...[...table, ...outsideActions].map((row) => ({
      name: row.name,
      times: least(row.leastPerMinute),
      got: fired[row.name],
    })),
    ...(minutes < longMinutes ? [] : table.flatMap(({ kinds = [] }) => kinds)).map((name) => ({
      name,
      times: 1,
      got: fired[name],
    })),
    ...(hasFailovers(table) ? [{ name: primaryChanged, times: least(0), got: fired[primaryChanged] }] : []),
    ...[clockShifted, ...gatewayFaultNames, ...dropNames].map((name) => ({ name, times: least(0), got: fired[name] })),
    ...Object.entries(leastPerMinute).map(([name, each]) => ({ name, times: least(each), got: figures[name] })),
  ])
}

function hasFailovers(table: Fault[]): boolean {
  return table.some(({ name }) => name === 'cluster struck')
}

function isCluster(table: Fault[]): boolean {
  return !table.some(({ name }) => name === 'database crashed')
}

function tooFew(wanted: { name: string; times: number; got: number | undefined }[]): string[] {
  return wanted
    .filter(({ times, got = 0 }) => got < times)
    .map(({ name, times, got = 0 }) => `${name}: ${got} of at least ${times}`)
}

export function judge(checks: Check[], missing: string[]): Verdict {
  if (checks.some(({ violations }) => violations.length > 0)) return 'FAILED'
  return missing.length > 0 ? 'INVALID' : 'PASSED'
}

const shownViolations = 5

export function renderReport(report: Report): string {
  const { seed, minutes, fired, gatewayFaults, figures, checks, missing, directory, verdict } = report
  const width = Math.max(...Object.keys({ ...fired, ...figures }).map((name) => name.length))
  const rows = (values: Record<string, number>) =>
    Object.entries(values).map(([name, value]) => `  ${name.padEnd(width)}  ${value.toLocaleString('en-US')}`)
  return [
    `Fault campaign, seed ${seed}, ${minutes} minutes under load.`,
    'The plan of the faults and of each client follows from the seed; how they interleave does not.',
    '',
    'Faults and outside actions:',
    ...rows(fired),
    '',
    'Faults of the gateway, by call:',
    ...byCall(gatewayFaults),
    '',
    'Figures:',
    ...rows(figures),
    '',
    'Checks:',
    ...checks.flatMap(checkLines),
    '',
    ...(missing.length > 0 ? ['Too few of:', ...missing.map((each) => `  ${each}`), ''] : []),
    ...(directory === null ? [] : [`History, logs and journal: ${directory}`]),
    `${verdict} (seed ${seed})`,
    '',
  ].join('\n')
}

function byCall(gatewayFaults: Fired[]): string[] {
  return [...Map.groupBy(gatewayFaults, ({ on }) => on)].map(([on, ofCall]) => {
    const kinds = ofCall.toSorted((one, other) => other.times - one.times)
    return `  ${on}: ${kinds.map(({ kind, times }) => `${kind} ${times}`).join(', ')}`
  })
}

function checkLines({ id, title, violations }: Check): string[] {
  const result = violations.length === 0 ? 'pass' : `${violations.length} VIOLATIONS`
  const shown = violations.slice(0, shownViolations).map((each) => `           ${each}`)
  return [`  ${result.padEnd(4)}  ${id.padEnd(6)}  ${title}`, ...shown]
}
