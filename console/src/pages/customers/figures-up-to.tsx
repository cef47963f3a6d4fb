// The time at which the figures of customers end, while they are counted.
import { Alert } from '@mantine/core'
import { Time } from '../../format/time.tsx'
import { useWords } from '../../words/words.tsx'

/** Null: they are complete. */
export function FiguresUpTo({ at }: { at: string | null | undefined }) {
  const { customers } = useWords()
  if (!at) return null
  return (
    <Alert variant="light" color="yellow" role="status">
      {customers.figuresUpTo} <Time at={at} />
    </Alert>
  )
}
