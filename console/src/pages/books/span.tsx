// A period of days in Korea, stored in the URL: two dates, or one of the usual periods. Dates apply as soon as they are a valid
// period; until then an error is shown, and nothing can be exported.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import { useSearchParams } from 'wouter'
import { addDays, dayMs, koreanDayOf } from '../../../../src/core/korean-days.ts'
import { useQueryChanges } from '../../parts/query-state.ts'
import { useWords } from '../../words/words.tsx'

export type Span = { from: string; to: string }

const longestDays = 366
const usualDays = [7, 31, 90]
/** No books are older. */
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
  /** From the URL, or the last 31 days. */
  span: Span
  /** The values of the fields. */
  typed: Span
  /** Why it is not a valid period. */
  fault: Fault | null
  type(next: Span): void
}

export function useSpan(): ChosenSpan {
  const [search] = useSearchParams()
  const change = useQueryChanges()
  const [unfinished, setUnfinished] = useState<Span | null>(null)
  const given = { from: search.get('from') ?? '', to: search.get('to') ?? '' }
  const span = faultOf(given) === 'spanMissing' ? lastDays(31) : given
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
