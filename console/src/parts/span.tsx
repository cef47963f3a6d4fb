// A period of days in Korea, stored in the URL: two dates, or one of the usual periods. Dates apply as soon as they are a valid
// period; until then an error is shown, and nothing can be exported.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import { useSearchParams } from 'wouter'
import { addDays, dayMs, koreanDayOf } from '../../../src/core/korean-days.ts'
import { useWords, type Words } from '../words/words.tsx'
import { useQueryChanges } from './query-state.ts'

/** An empty text leaves an end open, where the period is optional. */
export type Span = { from: string; to: string }

const longestDays = 366
/** No books are older. */
const firstDay = '2000-01-01'
const noSpan: Span = { from: '', to: '' }

const today = () => koreanDayOf(new Date())

/** The days up to today, in Korea. */
function lastDays(days: number): Span {
  return { from: addDays(today(), 1 - days), to: today() }
}

const firstOfMonth = (day: string) => `${day.slice(0, 7)}-01`

function thisMonth(): Span {
  return { from: firstOfMonth(today()), to: today() }
}

function lastMonth(): Span {
  const to = addDays(firstOfMonth(today()), -1)
  return { from: firstOfMonth(to), to }
}

function usualSpans(words: Words['span']): [label: string, span: () => Span][] {
  const days = [7, 31, 90].map((count): [string, () => Span] => [words.lastDays(count), () => lastDays(count)])
  return [[words.thisMonth, thisMonth], [words.lastMonth, lastMonth], ...days]
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

type Fault = 'missing' | 'wrong' | 'long' | 'outside'

function faultOf({ from, to }: Span, { isOptional, mostDays }: Required<SpanRules>): Fault | null {
  const isOpen = isOptional && (from === '' || to === '')
  const days = [from, to].filter((day) => !isOptional || day !== '')
  if (!days.every(isDay)) return 'missing'
  if (days.some((day) => day < firstDay || day > today())) return 'outside'
  const count = isOpen ? 1 : (Date.parse(to) - Date.parse(from)) / dayMs + 1
  if (count < 1) return 'wrong'
  return count > mostDays ? 'long' : null
}

export type ChosenSpan = {
  /** From the URL; without one the last 31 days, or all days if the period is optional. */
  span: Span
  /** The values of the fields. */
  typed: Span
  /** Why it is not a valid period. */
  fault: Fault | null
  mostDays: number
  isOptional: boolean
  type(next: Span): void
}

type SpanRules = { isOptional?: boolean; mostDays?: number }

export function useSpan({ isOptional = false, mostDays = longestDays }: SpanRules = {}): ChosenSpan {
  const rules = { isOptional, mostDays }
  const [search] = useSearchParams()
  const change = useQueryChanges()
  const [unfinished, setUnfinished] = useState<Span | null>(null)
  const given = { from: search.get('from') ?? '', to: search.get('to') ?? '' }
  const span = faultOf(given, rules) === 'missing' ? (isOptional ? noSpan : lastDays(31)) : given
  const typed = unfinished ?? span
  return {
    span,
    typed,
    fault: faultOf(typed, rules),
    mostDays,
    isOptional,
    type(next) {
      const isSpan = faultOf(next, rules) === null
      setUnfinished(isSpan ? null : next)
      if (isSpan) change(next)
    },
  }
}

export function SpanChooser({ chosen: { typed, fault, mostDays, isOptional, type } }: { chosen: ChosenSpan }) {
  const { span: words } = useWords()
  const problem = useId()
  const usual = [...usualSpans(words), ...(isOptional ? [[words.all, () => noSpan] as const] : [])]
  return (
    <Stack gap={0}>
      <Group align="flex-end" gap="xs">
        {(['from', 'to'] as const).map((end) => (
          <TextInput
            key={end}
            type="date"
            label={words[end]}
            value={typed[end]}
            min={firstDay}
            max={today()}
            aria-describedby={fault ? problem : undefined}
            aria-invalid={fault !== null}
            onChange={(event) => type({ ...typed, [end]: event.currentTarget.value })}
          />
        ))}
        <Group gap={4}>
          {usual.map(([label, span]) => (
            <Button key={label} variant="subtle" px="xs" onClick={() => type(span())}>
              {label}
            </Button>
          ))}
        </Group>
      </Group>
      <Text id={problem} role="alert" size="sm" c="red">
        {fault && (fault === 'long' ? words.long(`${mostDays}`) : words[fault])}
      </Text>
    </Stack>
  )
}
