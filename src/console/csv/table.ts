// A CSV file of the console: columns with headings in the language of the page. A time has two columns, in Korea and as ISO 8601.
// Without a language, for scripts, the headings are the names of the columns.

import { type CsvValue, csvLine } from '../../core/csv.ts'
import { koreanTimeOf } from '../../core/korean-days.ts'
import type { PaidColumns } from '../../core/paid-with.ts'
import { type CodeName, type ColumnName, headings, koreanCodes, type Language } from './headings.ts'

export type CsvColumn<Row> = {
  name: ColumnName
  value(row: Row): CsvValue
  isTime?: boolean
  /** The codes that the column has. */
  codes?: CodeName
}

type FieldName<Row> = ColumnName & keyof Row

/** The columns of fields of a row. */
export function fieldsOf<Row>(...names: FieldName<Row>[]): CsvColumn<Row>[] {
  return names.map((name) => ({ name, value: (row) => row[name] as CsvValue }))
}

export function timesOf<Row>(...names: FieldName<Row>[]): CsvColumn<Row>[] {
  return fieldsOf(...names).map((column) => ({ ...column, isTime: true }))
}

export function codeColumnsOf<Row>(name: FieldName<Row>, codes: CodeName): CsvColumn<Row>[] {
  return fieldsOf(name).map((column) => ({ ...column, codes }))
}

/** At the end of a file. */
export function paidColumns<Row extends PaidColumns>(): CsvColumn<Row>[] {
  return [
    ...codeColumnsOf<PaidColumns>('paidMethod', 'paidMethod'),
    ...fieldsOf<PaidColumns>('paidProvider', 'cardAmount', 'walletAmount', 'pointsAmount'),
  ]
}

export type CsvTable<Row> = { head: string; linesOf(rows: Row[]): string }

export function csvTable<Row>(language: Language | null, columns: CsvColumn<Row>[]): CsvTable<Row> {
  const lineOf = (row: Row) => csvLine(columns.flatMap((column) => cellsOf(language, column, row)))
  return {
    head: csvLine(columns.flatMap((column) => headingsOf(language, column))),
    linesOf: (rows) => rows.map(lineOf).join(''),
  }
}

function headingsOf<Row>(language: Language | null, { name, isTime }: CsvColumn<Row>): string[] {
  if (language === null) return isTime ? [`${name}Kst`, name] : [name]
  const heading = headings[name][language]
  return isTime ? [`${heading} (KST)`, `${heading} (ISO 8601)`] : [heading]
}

function cellsOf<Row>(language: Language | null, { value, isTime, codes }: CsvColumn<Row>, row: Row): CsvValue[] {
  const cell = value(row)
  if (isTime) return [cell instanceof Date ? koreanTimeOf(cell) : null, cell]
  const words: Record<string, string> = language === 'ko' && codes ? koreanCodes[codes] : {}
  // A customer may write `constructor`, which every object has.
  const word = Object.hasOwn(words, `${cell}`) ? words[`${cell}`] : undefined
  return [word ?? cell]
}
