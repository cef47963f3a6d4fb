// The audit log: every action of operators, newest first. The subject is in the URL, so that an order or a customer can link to its
// own entries.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { ActionsTable } from './actions-table.tsx'

export function ActionLogPage() {
  const { actionLog } = useWords()
  const [search] = useSearchParams()
  const subject = search.get('subject')?.trim().slice(0, 100) || undefined
  return (
    <>
      <PageHeader title={actionLog.title} />
      <Stack gap="md">
        <Text c="dimmed">{actionLog.intro}</Text>
        <Filter key={subject ?? ''} subject={subject ?? ''} />
        <ActionsTable subject={subject} />
      </Stack>
    </>
  )
}

function Filter({ subject }: { subject: string }) {
  const { actionLog } = useWords()
  const [, setSearch] = useSearchParams()
  const [typed, setTyped] = useState(subject)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setSearch(typed.trim() ? { subject: typed.trim() } : {})
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          label={actionLog.subjectFilter}
          description={actionLog.subjectHint}
          value={typed}
          maxLength={100}
          w="26rem"
          maw="100%"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          {actionLog.filter}
        </Button>
        {subject && (
          <Button variant="subtle" onClick={() => setSearch({})}>
            {actionLog.all}
          </Button>
        )}
      </Group>
    </form>
  )
}
