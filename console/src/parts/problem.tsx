// What is wrong, in the reader's words, what to do about it, and the service's own sentence where it adds something.
import { Alert, Button, List, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { useWords, type Words } from '../words/words.tsx'
import { WarningIcon } from './icons.tsx'

type Told = { title: string; hint: string | null; isServiceHeard: boolean }

function toldOf(error: Error, { common: { problems } }: Words): Told {
  const told = (title: string, hint: string | null, isServiceHeard: boolean) => ({ title, hint, isServiceHeard })
  if (!(error instanceof ApiError)) return told(problems.page, problems.pageHint, false)
  if (error.status === 0) return told(problems.noAnswer, problems.noAnswerHint, false)
  if (error.status === 401) return told(problems.signedOut, problems.signedOutHint, false)
  if (error.status === 403) return told(problems.refused, problems.refusedHint, false)
  if (error.status === 404) return told(problems.notFound, problems.notFoundHint, false)
  if (error.status === 503) return told(problems.busy, problems.busyHint, true)
  if (error.status >= 500) return told(problems.failed, problems.failedHint, false)
  return told(error.fields.length > 0 ? problems.invalid : problems.other, null, error.fields.length === 0)
}

type ProblemProps = {
  error: Error | null
  /** The page's own words, instead of the service's. */
  text?: string | null
  onRetry?(): void
  children?: ReactNode
}

export function Problem({ error, text = null, onRetry, children }: ProblemProps) {
  const words = useWords()
  if (!error) return null
  const { title, hint, isServiceHeard } = toldOf(error, words)
  const fields = text === null && error instanceof ApiError ? error.fields : []
  return (
    <Alert variant="light" color="red" icon={<WarningIcon />} title={title} role="alert">
      {hint && text === null && <Text size="sm">{hint}</Text>}
      {text && <Text size="sm">{text}</Text>}
      {isServiceHeard && text === null && error.message && (
        <Text size="sm" lang="en">
          {error.message}
        </Text>
      )}
      {fields.length > 0 && (
        <List size="sm" lang="en">
          {fields.map(({ field, rule }) => (
            <List.Item key={field}>{`${field}: ${rule}`}</List.Item>
          ))}
        </List>
      )}
      {children}
      {onRetry && (
        <Button mt="xs" size="xs" variant="default" onClick={onRetry}>
          {words.common.tryAgain}
        </Button>
      )}
    </Alert>
  )
}
