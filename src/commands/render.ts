// How a command's result is shown: JSON for scripts, tables and lines for people.

export function render(result: object | object[], json: boolean | undefined): string {
  if (json) return `${JSON.stringify(result)}\n`
  if (Array.isArray(result)) return table(result)
  const [lists, fields] = partition(Object.entries(result))
  const width = Math.max(...fields.map(([name]) => name.length + 1), 12)
  const lines = fields.map(([name, value]) => `${`${name}:`.padEnd(width)} ${cell(value)}\n`)
  const tables = lists.map(([name, rows]) => `\n${name}\n${table(rows as object[])}`)
  return [...lines, ...tables].join('')
}

type Entry = [name: string, value: unknown]

/** Lists of objects are shown as tables behind the rest. */
function partition(entries: Entry[]): [lists: Entry[], fields: Entry[]] {
  const isList = ([, value]: Entry) => Array.isArray(value)
  return [entries.filter(isList), entries.filter((entry) => !isList(entry))]
}

/** One line a row, columns as wide as they need. */
function table(rows: object[]): string {
  const [first] = rows
  if (!first) return 'None.\n'
  const names = Object.keys(first)
  const cells = [names, ...rows.map((row) => names.map((name) => cell((row as Record<string, unknown>)[name])))]
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  return cells.map((line) => `${aligned(line, widths)}\n`).join('')
}

function aligned(line: string[], widths: number[]): string {
  return line
    .map((text, column) => text.padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd()
}

function cell(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (isCounts(value))
    return Object.entries(value)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  if (typeof value === 'object' && value !== null) return printable(JSON.stringify(value))
  return printable(String(value ?? '-'))
}

/** What customers wrote must not steer the operator's terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function isCounts(value: unknown): value is Record<string, number> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).length > 0 && Object.values(value).every((each) => typeof each === 'number')
}
