// Comma-separated values by RFC 4180, safe for spreadsheets: a text that they would run as a formula is quoted.
import { visible } from './visible.ts'

export type CsvValue = string | number | Date | null

/** Korean spreadsheets read a file without it as EUC-KR. */
export const byteOrderMark = '\ufeff'

/** With its line break. */
export function csvLine(values: CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`
}

function field(value: CsvValue): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number') return `${value}`
  // Spreadsheets accept the full-width forms of East Asian keyboards too.
  const plain = /^[=+\-@＝＋－＠\t\r\n]/.test(value) ? `'${value}` : value
  const text = plain.replace(/[^\t\r\n]+/g, visible)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
