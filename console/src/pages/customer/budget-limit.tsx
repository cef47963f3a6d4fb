// The period, the credits and the warning of a new budget: the part of the form that is the same for a customer and for a service.
import { NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWords } from '../../words/words.tsx'

const periods = ['HOUR', 'DAY', 'MONTH'] as const
const isWhole = (text: string) => /^\d{1,15}$/.test(text)

export function useBudgetLimit() {
  const { budgets: words } = useWords().customers
  const [period, setPeriod] = useState<(typeof periods)[number]>('MONTH')
  const [credits, setCredits] = useState('')
  const [warnAt, setWarnAt] = useState('')
  const isWarningWrong =
    warnAt !== '' && !(isWhole(warnAt) && Number(warnAt) >= 1 && Number(warnAt) <= Math.max(Number(credits), 1))
  const fields = (
    <>
      <NativeSelect
        label={words.columns.period}
        data={periods.map((each) => ({ value: each, label: words.periods[each] }))}
        value={period}
        onChange={(event) => setPeriod(event.currentTarget.value as typeof period)}
      />
      <TextInput
        label={words.columns.credits}
        required
        inputMode="numeric"
        value={credits}
        error={credits !== '' && !isWhole(credits) ? words.wrong : null}
        onChange={(event) => setCredits(event.currentTarget.value.trim())}
        maxLength={15}
      />
      <TextInput
        label={words.columns.warnAt}
        description={words.warnHint}
        inputMode="numeric"
        value={warnAt}
        error={isWarningWrong ? words.warnWrong : null}
        onChange={(event) => setWarnAt(event.currentTarget.value.trim())}
        maxLength={15}
      />
    </>
  )
  return {
    fields,
    isComplete: isWhole(credits) && !isWarningWrong,
    body: { period, credits: Number(credits), ...(warnAt !== '' && { warnAt: Number(warnAt) }) },
    clear() {
      setCredits('')
      setWarnAt('')
    },
  }
}
