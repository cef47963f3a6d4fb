// A span of days of Korea, in the address: chosen by two dates or by one of the usual spans. Dates hold as soon as they
// make a span; until then it is said what is wrong, and nothing else is shown or saved in their place.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import { useSearchParams } from 'wouter'
import { addDays, dayMs, koreanDayOf } from '../../../../src/core/korean-days.ts'
import { useQueryChanges } from '../../parts/query-state.ts'
import { useWords } from '../../words/words.tsx'

export type Span = { from: string; to: string }

const longestDays = 366
const usualDays = [7, 31, 90]
/** No day before it is in any books. */
const firstDay = '2000-01-01'

const today = () => koreanDayOf(new Date())

/** The days up to today, in Korea. */
function lastDays(days: number): Span {
  return { from: addDays(today(), 1 - days), to: today() }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

type Fault = 'spanMissing' | 'spanWrong' | 'spanLong' | 'spanOutside'

function faultOf({ from, to }: Span): Fault | null {
  if (!isDay(from) || !isDay(to)) return 'spanMissing'
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1
  if (days < 1) return 'spanWrong'
  if (days > longestDays) return 'spanLong'
  return from < firstDay || to > today() ? 'spanOutside' : null
}

export type ChosenSpan = {
  /** What the address says, or the last 31 days. */
  span: Span
  /** What stands in the fields. */
  typed: Span
  /** Why it is not a span. */
  fault: Fault | null
  type(next: Span): void
}

export function useSpan(): ChosenSpan {
  const [search] = useSearchParams()
  const change = useQueryChanges()
  const [unfinished, setUnfinished] = useState<Span | null>(null)
  const told = { from: search.get('from') ?? '', to: search.get('to') ?? '' }
  const span = faultOf(told) === 'spanMissing' ? lastDays(31) : told
  const typed = unfinished ?? span
  return {
    span,
    typed,
    fault: faultOf(typed),
    type(next) {
      const isSpan = faultOf(next) === null
      setUnfinished(isSpan ? null : next)
      if (isSpan) change(next)
    },
  }
}

export function SpanChooser({ chosen: { typed, fault, type } }: { chosen: ChosenSpan }) {
  const { books } = useWords()
  const problem = useId()
  return (
    <Stack gap={0}>
      <Group align="flex-end" gap="xs">
        {(['from', 'to'] as const).map((end) => (
          <TextInput
            key={end}
            type="date"
            label={books[end]}
            value={typed[end]}
            min={firstDay}
            max={today()}
            aria-describedby={fault ? problem : undefined}
            aria-invalid={fault !== null}
            onChange={(event) => type({ ...typed, [end]: event.currentTarget.value })}
          />
        ))}
        <Group gap={4}>
          {usualDays.map((count) => (
            <Button key={count} variant="subtle" px="xs" onClick={() => type(lastDays(count))}>
              {books.lastDays(count)}
            </Button>
          ))}
        </Group>
      </Group>
      <Text id={problem} role="alert" size="sm" c="red">
        {fault && books[fault]}
      </Text>
    </Stack>
  )
}
