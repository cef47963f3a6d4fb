// The trail: who did what, about what, why, and what came of it, newest first. What it is about can be given in the
// address, so that an order or a customer leads to its own part of it.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { ActionsTable } from './actions-table.tsx'

export function TrailPage() {
  const { trail } = useWords()
  const [search] = useSearchParams()
  const subject = search.get('subject')?.trim().slice(0, 100) || undefined
  return (
    <>
      <PageHeader title={trail.title} />
      <Stack gap="md">
        <Text c="dimmed">{trail.intro}</Text>
        <Filter key={subject ?? ''} subject={subject ?? ''} />
        <ActionsTable subject={subject} />
      </Stack>
    </>
  )
}

function Filter({ subject }: { subject: string }) {
  const { trail } = useWords()
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
          label={trail.subjectFilter}
          description={trail.subjectHint}
          value={typed}
          maxLength={100}
          w="26rem"
          maw="100%"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          {trail.filter}
        </Button>
        {subject && (
          <Button variant="subtle" onClick={() => setSearch({})}>
            {trail.all}
          </Button>
        )}
      </Group>
    </form>
  )
}
