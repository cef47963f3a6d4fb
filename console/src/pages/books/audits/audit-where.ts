// Describes the row of an audit finding beside its order and customer: translated where the service wrote a known value, else as
// it is stored.
import type { Words } from '../../../words/words.tsx'

type Subject = Record<string, unknown>
type Table = Record<string, string>

export function describeWhere(
  { orderId: _, customerId: __, ...others }: Subject,
  { audits }: Pick<Words, 'audits'>,
): string {
  const labels: Table = audits.fields
  const tables: Record<string, Table> = { ...audits.values, scan: audits.kinds }
  const textOf = (name: string, value: unknown) =>
    Array.isArray(value) ? value.join(' ') : (tables[name]?.[`${value}`] ?? `${value}`)
  return Object.entries(others)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${labels[name] ?? name}: ${textOf(name, value)}`)
    .join(', ')
}
