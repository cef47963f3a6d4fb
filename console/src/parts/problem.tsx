// An error and what to do about it, translated. The message of the service is below it, to be quoted to engineers. What does not
// exist is no alarm, and trying again would not help.
import { Alert, Button, List, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { WarningIcon } from '../shell/icons.tsx'
import { useWords } from '../words/words.tsx'
import { errorTextOf } from './error-text.ts'

type ProblemProps = {
  error: Error | null
  /** A text of the page in place of the hint. */
  text?: string | null
  onRetry?(): void
  children?: ReactNode
}

export function Problem({ error, text = null, onRetry, children }: ProblemProps) {
  const words = useWords()
  if (!error) return null
  const { title, hint } = errorTextOf(error, words)
  const fields = text === null && error instanceof ApiError ? error.fields : []
  const known: Record<string, string> = words.problems.fields
  const isMissing = error instanceof ApiError && error.status === 404
  return (
    <Alert variant="light" color={isMissing ? 'gray' : 'red'} icon={<WarningIcon />} title={title} role="alert">
      {(text ?? hint) && <Text size="sm">{text ?? hint}</Text>}
      {fields.length > 0 && (
        <List size="sm">
          {fields.map(({ field }) => (
            <List.Item key={field}>{known[field] ?? field}</List.Item>
          ))}
        </List>
      )}
      {error instanceof ApiError && error.status > 0 && <ServiceMessage error={error} />}
      {children}
      {onRetry && !isMissing && (
        <Button mt="xs" size="xs" variant="default" onClick={onRetry}>
          {words.common.tryAgain}
        </Button>
      )}
    </Alert>
  )
}

/** In English, as the service sent it. */
function ServiceMessage({ error: { code, message, fields, requestId } }: { error: ApiError }) {
  const { problems } = useWords()
  const rules = fields.map(({ field, rule }) => `${field}: ${rule}`)
  return (
    <Text size="xs" component="details" mt={4}>
      <summary>{problems.serviceMessage}</summary>
      {[`${code}: ${message}`, ...rules, ...(requestId ? [`requestId: ${requestId}`] : [])].map((line) => (
        <Text key={line} size="xs" lang="en" style={{ overflowWrap: 'anywhere' }}>
          {line}
        </Text>
      ))}
    </Text>
  )
}
