// The notes of operators on a customer, newest first.
import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { Data } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { Time } from '../../format/time.tsx'
import { useWords } from '../../words/words.tsx'
import { NoteDialog } from '../order/actions/note-dialog.tsx'
import { nameOf } from '../order/timeline/moment-text.ts'

/** The others are below a fold. */
const notesShown = 3

type Note = Data<'customer'>['notes'][number]

export function Notes({ customer: { customerId, notes } }: { customer: Data<'customer'> }) {
  const { notes: words } = useWords().customers
  const mayWrite = useMay('write notes')
  const [isOpen, setIsOpen] = useState(false)
  const older = notes.slice(notesShown)
  if (!mayWrite && notes.length === 0) return null
  return (
    <Paper component="section" withBorder p="md" aria-labelledby="notes">
      <Group justify="space-between">
        <Title order={2} size="h5" id="notes">
          {words.title}
        </Title>
        {mayWrite && (
          <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
            {words.add}
          </Button>
        )}
      </Group>
      {notes.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.none}
        </Text>
      ) : (
        <NoteList notes={notes.slice(0, notesShown)} />
      )}
      {older.length > 0 && (
        <Text size="sm" component="details" mt="xs">
          <summary>{words.older}</summary>
          <NoteList notes={older} />
        </Text>
      )}
      <NoteDialog opened={isOpen} on={{ customerId }} onClose={() => setIsOpen(false)} />
    </Paper>
  )
}

function NoteList({ notes }: { notes: Note[] }) {
  return (
    <Stack component="ul" gap="xs" m={0} mt="xs" p={0} style={{ listStyle: 'none' }}>
      {notes.map(({ at, actor, note }) => (
        <li key={`${at} ${note}`}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {note}
          </Text>
          <Text size="xs" c="dimmed">
            {nameOf(actor)} · <Time at={at} />
          </Text>
        </li>
      ))}
    </Stack>
  )
}
