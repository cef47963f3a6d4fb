// Parses CSV by RFC 4180: quoted fields may contain commas, line ends and doubled quotes.

export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (end === '' && plain === '' && quoted === undefined && row.length === 0) break
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

/** The rows as objects with the names of the first line. */
export function readCsv(text: string): Record<string, string>[] {
  const [names = [], ...rows] = parseCsv(text)
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])))
}
