// Lines of comma-separated values, as RFC 4180 has them, for spreadsheets too: a text that one would take for a formula is
// made one that it does not.

import { visible } from './visible.ts'

export type CsvValue = string | number | Date | null

/** Spreadsheets in Korea take a file without it for EUC-KR. */
export const byteOrderMark = '\ufeff'

/** With its end. */
export function csvLine(values: CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`
}

function field(value: CsvValue): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number') return `${value}`
  // Spreadsheets read the full-width forms of East Asian keyboards alike.
  const plain = /^[=+\-@＝＋－＠\t\r\n]/.test(value) ? `'${value}` : value
  const text = plain.replace(/[^\t\r\n]+/g, visible)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
