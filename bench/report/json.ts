// Results as a JSON file.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** More digits would be noise. */
const digits = 5

export function writeJson(directory: string, fileName: string, results: object): void {
  mkdirSync(directory, { recursive: true })
  const text = JSON.stringify(results, (_key, value) => (typeof value === 'number' ? rounded(value) : value), 2)
  writeFileSync(join(directory, fileName), `${text}\n`)
}

function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(digits))
}
