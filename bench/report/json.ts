// Results as JSON: a file with every measurement, which is not committed, and in summary.json, which is, what the tables of
// docs/performance.md are made of. The summary has one line for each row of a table.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** More digits would be noise. */
const digits = 5

export const summaryFile = 'summary.json'

/** `unsummarised`: the members with single measurements, which the tables do not need. */
export function writeJson(directory: string, name: string, results: object, unsummarised: string[] = []): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(results, rounded, 2)}\n`)
  const path = join(directory, summaryFile)
  const former = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  const kept = Object.entries(results).filter(([member]) => !unsummarised.includes(member))
  writeFileSync(path, summaryText({ ...former, [name]: Object.fromEntries(kept) }))
}

export function readSummary(directory: string, name: string): unknown {
  return JSON.parse(readFileSync(join(directory, summaryFile), 'utf8'))[name]
}

function rounded(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number(value.toPrecision(digits))
}

function summaryText(summary: Record<string, object>): string {
  const names = Object.keys(summary).sort()
  const parts = names.map((name) => {
    const members = Object.entries(summary[name] ?? {}).map(([member, value]) => `${quoted(member)}: ${linesOf(value)}`)
    return `${quoted(name)}: {\n${members.join(',\n')}\n}`
  })
  return `{\n${parts.join(',\n')}\n}\n`
}

/** Of a list one member a line. */
function linesOf(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return JSON.stringify(value, rounded)
  return `[\n${value.map((member) => JSON.stringify(member, rounded)).join(',\n')}\n]`
}

const quoted = (name: string) => JSON.stringify(name)
