// A loading indicator, also for screen readers.
import { Center, Loader, VisuallyHidden } from '@mantine/core'
import { useWords } from '../words/words.tsx'

export function Waiting() {
  const words = useWords()
  return (
    <Center py="xl" role="status">
      <Loader size="sm" type="dots" aria-hidden="true" />
      <VisuallyHidden>{words.common.loading}</VisuallyHidden>
    </Center>
  )
}
