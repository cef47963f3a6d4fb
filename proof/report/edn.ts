// A history as Jepsen writes one, in EDN: an operation is invoked by a process and ends :ok, :fail or :info. A process does
// one thing at a time, and one whose operation ended :info does nothing any more, because that operation may still happen. As
// Knossos and Elle expect, the value of :invoke, :fail and :info is the request; :ok adds the response to it, and the cause of
// the others is their :error. Faults are of the :nemesis. Steps of customers and others are no operations: their calls are.

import type { Actor } from '../stages/simulated/plan/steps.ts'

/** A line of a history (proof/model/history.ts). */
export type Line = { type: string; at: number; number?: number; event?: string } & Record<string, unknown>

type Operation = {
  at: number
  process: number | 'nemesis'
  type: 'invoke' | 'ok' | 'fail' | 'info'
  f: string
  value: unknown
  error?: unknown
}

/** Whose steps are faults, except for those of people. */
const faultActors: string[] = ['gateway', 'network', 'database', 'process', 'consumer'] satisfies Actor[]

const ends = ['ok', 'fail', 'info']

export function ednOf(lines: Line[]): string {
  const operations = operationsOf(lines)
  return operations
    .map(({ at, process, type, f, value, error }, index) => {
      const who = typeof process === 'number' ? `${process}` : `:${process}`
      const fields = [`:index ${index}`, `:time ${Math.round(at * 1_000_000)}`, `:process ${who}`, `:type :${type}`]
      const cause = error === undefined ? [] : [`:error ${ednValue(error)}`]
      return `{${[...fields, `:f :${keywordOf(f)}`, `:value ${ednValue(value)}`, ...cause].join(', ')}}\n`
    })
    .join('')
}

function operationsOf(lines: Line[]): Operation[] {
  const free: number[] = []
  let processes = 0
  const underWay = new Map<string, { process: number; f: string; value: object }>()
  const take = () => {
    const [process = processes++] = free.splice(0, 1)
    return process
  }
  function begin(key: string, at: number, f: string, value: object): Operation {
    const process = take()
    underWay.set(key, { process, f, value })
    return { at, process, type: 'invoke', f, value }
  }
  function end(key: string, at: number, type: 'ok' | 'fail' | 'info', answer: object): Operation[] {
    const own = underWay.get(key)
    if (!own) return []
    underWay.delete(key)
    if (type !== 'info') {
      free.push(own.process)
      free.sort((one, other) => one - other)
    }
    if (type === 'ok') return [{ at, ...own, type, value: { ...own.value, response: answer } }]
    return [{ at, ...own, type, error: answer }]
  }
  return lines.flatMap((line): Operation[] => {
    const { type, at, number, event, ...rest } = line
    if (type === 'invoke') {
      const { op, ...value } = rest
      return [begin(`${number}`, at, String(op), value)]
    }
    if (ends.includes(type)) return end(`${number}`, at, type as 'ok' | 'fail' | 'info', withoutBookkeeping(rest))
    if (event === 'operator request') return [begin(`operator ${number}`, at, `console ${rest.endpoint}`, rest)]
    if (event === 'operator answer') {
      const { kind, ...answer } = rest.outcome as { kind: 'ok' | 'fail' | 'info' }
      return end(`operator ${number}`, at, kind, answer)
    }
    const isFault = event === 'step' && faultActors.includes(String(rest.actor)) && !isOfPeople(rest)
    return isFault ? [{ at, process: 'nemesis', type: 'info', f: `${rest.actor} ${rest.what}`, value: null }] : []
  })
}

/** The consumer rotates its secret on purpose. */
const isOfPeople = ({ actor, what }: Record<string, unknown>) => actor === 'consumer' && what === 'secret rotated'

function withoutBookkeeping({ dropped: _, ...value }: Record<string, unknown>): object {
  return value
}

/** Letters, digits and dashes. */
function keywordOf(text: string): string {
  return text
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .toLowerCase()
}

export function ednValue(value: unknown): string {
  if (value === null || value === undefined) return 'nil'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : 'nil'
  if (typeof value === 'boolean') return `${value}`
  if (Array.isArray(value)) return `[${value.map(ednValue).join(' ')}]`
  const members = Object.entries(value as object).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${ednKey(name)} ${ednValue(member)}`).join(', ')}}`
}

function ednKey(name: string): string {
  return /^[A-Za-z][A-Za-z0-9]*$/.test(name) ? `:${name}` : JSON.stringify(name)
}
