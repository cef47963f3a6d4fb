// What is wrong and what to do about it, in the reader's words. The service's own sentence is below, for whoever looks closer or
// has to quote it.
import { Alert, Button, List, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { WarningIcon } from '../shell/icons.tsx'
import { useWords } from '../words/words.tsx'
import { toldOf } from './told.ts'

type ProblemProps = {
  error: Error | null
  /** The page's own words, instead of what to do. */
  text?: string | null
  onRetry?(): void
  children?: ReactNode
}

export function Problem({ error, text = null, onRetry, children }: ProblemProps) {
  const words = useWords()
  if (!error) return null
  const { title, hint } = toldOf(error, words)
  const fields = text === null && error instanceof ApiError ? error.fields : []
  const known: Record<string, string> = words.problems.fields
  return (
    <Alert variant="light" color="red" icon={<WarningIcon />} title={title} role="alert">
      {(text ?? hint) && <Text size="sm">{text ?? hint}</Text>}
      {fields.length > 0 && (
        <List size="sm">
          {fields.map(({ field }) => (
            <List.Item key={field}>{known[field] ?? field}</List.Item>
          ))}
        </List>
      )}
      {error instanceof ApiError && error.status > 0 && <Said error={error} />}
      {children}
      {onRetry && (
        <Button mt="xs" size="xs" variant="default" onClick={onRetry}>
          {words.common.tryAgain}
        </Button>
      )}
    </Alert>
  )
}

/** In the words of the service, which are English. */
function Said({ error: { code, message, fields, requestId } }: { error: ApiError }) {
  const { problems } = useWords()
  const rules = fields.map(({ field, rule }) => `${field}: ${rule}`)
  return (
    <Text size="xs" component="details" mt={4}>
      <summary>{problems.said}</summary>
      {[`${code}: ${message}`, ...rules, ...(requestId ? [`requestId: ${requestId}`] : [])].map((line) => (
        <Text key={line} size="xs" lang="en" style={{ overflowWrap: 'anywhere' }}>
          {line}
        </Text>
      ))}
    </Text>
  )
}
