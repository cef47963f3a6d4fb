// The audit log: every action of operators, newest first. The filters are in the URL, so that an order or a customer can link to its
// own entries.
import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { useQueryChanges } from '../../parts/query-state.ts'
import { SpanChooser, useSpan } from '../../parts/span.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { type ActionFilter, ActionsTable } from './actions-table.tsx'

const names = ['subject', 'actor', 'command'] as const
type Typed = { [Name in (typeof names)[number]]: string }

export function ActionLogPage() {
  const { actionLog } = useWords()
  const [search] = useSearchParams()
  const chosen = useSpan({ isOptional: true })
  const [subject, actor, command] = names.map((name) => search.get(name)?.trim().slice(0, 100) ?? '')
  const given: Typed = { subject: subject ?? '', actor: actor ?? '', command: command ?? '' }
  const filter = Object.fromEntries(Object.entries({ ...given, ...chosen.span }).filter(([, value]) => value !== ''))
  return (
    <>
      <PageHeader title={actionLog.title} />
      <Stack gap="md">
        <Text c="dimmed">{actionLog.intro}</Text>
        <SpanChooser chosen={chosen} />
        <Filter key={Object.values(given).join('\n')} given={given} />
        <ActionsTable {...(filter as ActionFilter)} />
      </Stack>
    </>
  )
}

/** Who, what and about what. */
function Filter({ given }: { given: Typed }) {
  const { actionLog } = useWords()
  const change = useQueryChanges()
  const [typed, setTyped] = useState(given)
  const commands = Object.entries(actionLog.commands).sort(([, one], [, other]) => one.localeCompare(other))
  const options = commands.map(([value, label]) => ({ value, label }))
  const isFiltered = Object.values(given).some((value) => value !== '')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change({ subject: typed.subject.trim(), actor: typed.actor.trim(), command: typed.command })
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          label={actionLog.actor}
          value={typed.actor}
          maxLength={100}
          onChange={(event) => setTyped({ ...typed, actor: event.currentTarget.value })}
        />
        <NativeSelect
          label={actionLog.command}
          value={typed.command}
          data={[{ value: '', label: actionLog.anyCommand }, ...options]}
          onChange={(event) => setTyped({ ...typed, command: event.currentTarget.value })}
        />
        <TextInput
          label={actionLog.subjectFilter}
          description={actionLog.subjectHint}
          value={typed.subject}
          maxLength={100}
          w="24rem"
          maw="100%"
          onChange={(event) => setTyped({ ...typed, subject: event.currentTarget.value })}
        />
        <Button type="submit" variant="default">
          {actionLog.filter}
        </Button>
        {isFiltered && (
          <Button variant="subtle" onClick={() => change({ subject: '', actor: '', command: '' })}>
            {actionLog.all}
          </Button>
        )}
      </Group>
    </form>
  )
}
