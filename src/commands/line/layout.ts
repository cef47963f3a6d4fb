// How a result is laid out for people: tables with their numbers to the right, or, where a table is wider than the terminal,
// a paragraph for each row. Colours are laid over it at the end; they never count as width.
import { styleText } from 'node:util'

export type Look = {
  /** Of the terminal; undefined elsewhere, where a line may be as long as it is. */
  columns?: number | undefined
  colour?: boolean
}

export type Cell = { text: string; isNumber: boolean }
type Style = Parameters<typeof styleText>[0]

/** What to look at first. */
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
/** Letters of these scripts are two columns wide; marks are laid over the letter before them. */
const wide =
  /\p{Script=Hangul}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Emoji_Presentation}|[\uff01-\uff60]/u
const noWidth = /\p{Mn}|\p{Me}|\p{Cf}/u

export function widthOf(text: string): number {
  let width = 0
  for (const character of text.normalize('NFC')) {
    if (!noWidth.test(character)) width += wide.test(character) ? 2 : 1
  }
  return width
}

function styled(style: Style, text: string, { colour }: Look): string {
  // Whether there are colours was decided by whoever knows the terminal.
  return colour ? styleText(style, text, { validateStream: false }) : text
}

function shown({ text }: Cell, look: Look): string {
  const style = Object.hasOwn(styles, text) ? styles[text] : undefined
  return style ? styled(style, text, look) : text
}

function padding(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** Names and values, a line each. */
export function fields(entries: [name: string, value: Cell][], look: Look, leastWidth = 0): string {
  const width = Math.max(leastWidth, ...entries.map(([name]) => widthOf(name) + 1))
  const line = ([name, value]: [string, Cell]) =>
    `${styled('dim', `${name}:`, look)}${padding(`${name}:`, width)} ${shown(value, look)}\n`
  return entries.map(line).join('')
}

/** One line a row, columns as wide as they need; a paragraph a row where that does not fit. */
export function table(names: string[], rows: Cell[][], look: Look): string {
  const widths = names.map((name, column) =>
    Math.max(widthOf(name), ...rows.map((row) => widthOf(row[column]?.text ?? ''))),
  )
  const width = widths.reduce((sum, each) => sum + each + gap.length, -gap.length)
  if (look.columns !== undefined && width > look.columns) {
    return rows
      .map((row) =>
        fields(
          row.map((cell, column) => [names[column] ?? '', cell]),
          look,
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
  const head = line(names.map((name) => ({ plain: name, shown: styled('bold', name, look) })))
  const body = rows.map((row) => line(row.map((cell) => ({ plain: cell.text, shown: shown(cell, look) }))))
  return [head, ...body].map((each) => `${each}\n`).join('')
}
