// Lays out a result for a terminal: tables with numbers aligned to the right, or, where a table is wider than the terminal,
// one paragraph per row. Colours are added at the end, so they do not count as width.
import { styleText } from 'node:util'

export type OutputFormat = {
  /** The width of the terminal; undefined without a terminal, where lines are not wrapped. */
  columns?: number | undefined
  colour?: boolean
}

export type Cell = { text: string; isNumber: boolean }
type Style = Parameters<typeof styleText>[0]

const styles: Record<string, Style> = {
  SUSPENDED: 'yellow',
  DISABLED: 'yellow',
  OPEN: 'yellow',
  PENDING: 'yellow',
  'under way': 'yellow',
  FAILED: 'red',
  REJECTED: 'red',
  false: 'red',
  disagrees: 'red',
  unknown: 'red',
  failed: 'red',
  ACTIVE: 'green',
  CONFIRMED: 'green',
  APPROVED: 'green',
  true: 'green',
  ok: 'green',
  agrees: 'green',
  repaired: 'green',
}

const gap = '  '
/** Letters of these scripts are two columns wide; combining marks have no width. */
const wide =
  /\p{Script=Hangul}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Emoji_Presentation}|[\uff01-\uff60]/u
const noWidth = /\p{Mn}|\p{Me}|\p{Cf}/u

export function displayWidth(text: string): number {
  let width = 0
  for (const character of text.normalize('NFC')) {
    if (!noWidth.test(character)) width += wide.test(character) ? 2 : 1
  }
  return width
}

function styled(style: Style, text: string, { colour }: OutputFormat): string {
  // The caller has decided whether the terminal has colours.
  return colour ? styleText(style, text, { validateStream: false }) : text
}

function shown({ text }: Cell, format: OutputFormat): string {
  const style = Object.hasOwn(styles, text) ? styles[text] : undefined
  return style ? styled(style, text, format) : text
}

function padding(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text)))
}

/** One line per name and value. */
export function fields(entries: [name: string, value: Cell][], format: OutputFormat, minWidth = 0): string {
  const width = Math.max(minWidth, ...entries.map(([name]) => displayWidth(name) + 1))
  const line = ([name, value]: [string, Cell]) =>
    `${styled('dim', `${name}:`, format)}${padding(`${name}:`, width)} ${shown(value, format)}\n`
  return entries.map(line).join('')
}

/** One line per row; one paragraph per row if the lines are wider than the terminal. */
export function table(names: string[], rows: Cell[][], format: OutputFormat): string {
  const widths = names.map((name, column) =>
    Math.max(displayWidth(name), ...rows.map((row) => displayWidth(row[column]?.text ?? ''))),
  )
  const width = widths.reduce((sum, each) => sum + each + gap.length, -gap.length)
  if (format.columns !== undefined && width > format.columns) {
    return rows
      .map((row) =>
        fields(
          row.map((cell, column) => [names[column] ?? '', cell]),
          format,
        ),
      )
      .join('\n')
  }
  const isRight = names.map((_, column) => rows.every((row) => row[column]?.isNumber ?? false))
  const line = (texts: { plain: string; shown: string }[]) =>
    texts
      .map((each, column) => {
        const blanks = padding(each.plain, widths[column] ?? 0)
        return isRight[column] ? `${blanks}${each.shown}` : `${each.shown}${blanks}`
      })
      .join(gap)
      .trimEnd()
  const head = line(names.map((name) => ({ plain: name, shown: styled('bold', name, format) })))
  const body = rows.map((row) => line(row.map((cell) => ({ plain: cell.text, shown: shown(cell, format) }))))
  return [head, ...body].map((each) => `${each}\n`).join('')
}
