// Reconciles the days of a run again, and shows the new run.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { koreanDayOf } from '../../../../../src/core/korean-days.ts'
import { useMay } from '../../../api/hooks.ts'
import { useFormats } from '../../../format/formats.ts'
import { ReasonDialog } from '../../../parts/reason-dialog.tsx'
import { useWords } from '../../../words/words.tsx'
import type { Run } from './run-figures.ts'
import { daysOf } from './run-parts.tsx'

export function CompareAgain({ run }: { run: Run }) {
  const { days } = useWords().books
  const { day } = useFormats()
  const [, go] = useLocation()
  const [isOpen, setIsOpen] = useState(false)
  const [from, to] = [koreanDayOf(new Date(run.from)), koreanDayOf(new Date(run.to))]
  if (!useMay('reconcile')) return null
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        {days.compare}
      </Button>
      <ReasonDialog
        opened={isOpen}
        title={days.compareDay(daysOf(run, day))}
        text={days.compareText}
        action={days.compareFirst}
        endpoint="reconcile"
        inputOf={(reason) => ({ body: { from, to, reason } })}
        refreshes={['days', 'runs']}
        onDone={({ reconciliationId }) => go(`/books/runs/${reconciliationId}`)}
        onClose={() => setIsOpen(false)}
      />
    </>
  )
}
