// Tells what names a row that an audit found, beside its order and customer: in the reader's words where the service wrote it
// in its own, else as it is kept.
import type { Words } from '../../words/words.tsx'

type Subject = Record<string, unknown>
type Table = Record<string, string>

export function tellWhere(
  { orderId: _, customerId: __, ...others }: Subject,
  { audits }: Pick<Words, 'audits'>,
): string {
  const labels: Table = audits.fields
  const tables: Record<string, Table> = { ...audits.values, scan: audits.kinds }
  const told = (name: string, value: unknown) =>
    Array.isArray(value) ? value.join(' ') : (tables[name]?.[`${value}`] ?? `${value}`)
  return Object.entries(others)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${labels[name] ?? name}: ${told(name, value)}`)
    .join(', ')
}
