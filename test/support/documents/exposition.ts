// Reads the text format of Prometheus, strictly: a line that is neither a comment of a family nor a sample of one fails.
import assert from 'node:assert/strict'

export type Sample = { name: string; labels: Record<string, string>; value: number }
export type Family = { name: string; type: string; help: string; samples: Sample[] }

const samplePattern = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const labelPattern = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/g

export function readExposition(text: string): Family[] {
  const families: Family[] = []
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, comment, named = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (comment === 'HELP') families.push({ name: named, help: rest, type: '', samples: [] })
    const family = families.at(-1)
    assert.ok(family, line)
    if (comment === 'TYPE') family.type = rest
    if (comment) continue
    const [, name = '', labels = '', value = ''] = samplePattern.exec(line) ?? assert.fail(`not a sample: ${line}`)
    assert.ok(name.startsWith(family.name), `${name} is not of ${family.name}`)
    const read = Object.fromEntries([...labels.matchAll(labelPattern)].map(([, label, text]) => [label, text]))
    family.samples.push({ name, labels: read, value: Number(value) })
  }
  return families
}

/** The samples of one name, or none. */
export function samplesOf(text: string, name: string): Sample[] {
  return readExposition(text).flatMap(({ samples }) => samples.filter((sample) => sample.name === name))
}

/** The sum of the samples with these labels; undefined when there are none. */
export function sumOf(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const fitting = samplesOf(text, name).filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  return fitting.length === 0 ? undefined : fitting.reduce((sum, { value }) => sum + value, 0)
}
