// The trail: who did what, about what, why, and what came of it, newest first. What it is about can be given in the
// address, so that an order or a customer leads to its own part of it.
import { Anchor, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { Data } from '../../../src/console/contract.ts'
import { usePages } from '../api/hooks.ts'
import { Id, InsideLink } from '../format/id.tsx'
import { StatusBadge, type Tone } from '../format/status-badge.tsx'
import { Time } from '../format/time.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { useWords } from '../words/words.tsx'

type Action = Data<'trail'>['actions'][number]

export function TrailPage() {
  const { trail } = useWords()
  const [search] = useSearchParams()
  const subject = search.get('subject')?.trim().slice(0, 100) || undefined
  const pages = usePages('trail', { query: subject ? { subject } : {} }, (data) => data.actions)
  const columns: Column<Action>[] = [
    { header: trail.at, cell: ({ at }) => <Time at={at} /> },
    { header: trail.actor, cell: ({ actor }) => <Actor actor={actor} /> },
    { header: trail.command, cell: (action) => <What action={action} /> },
    { header: trail.subject, cell: (action) => <Subject action={action} /> },
    { header: trail.reason, cell: ({ reason }) => reason ?? <Text c="dimmed">–</Text> },
    { header: trail.outcome, cell: (action) => <Outcome action={action} /> },
  ]
  return (
    <>
      <PageHeader title={trail.title} />
      <Stack gap="md">
        <Text c="dimmed">{trail.intro}</Text>
        <Filter key={subject ?? ''} subject={subject ?? ''} />
        <DataTable
          caption={subject ? trail.onlyAbout(subject) : trail.caption}
          columns={columns}
          rows={pages.rows}
          pages={pages}
          keyOf={(action) => action.actionId}
          empty={subject ? trail.emptyAbout : trail.empty}
        />
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

const place = /^(?:somebody|(.+) in the console) from (.+)$/

/** `NAME in the console from ADDRESS`, `somebody from ADDRESS` who was not let in, or the user of a command line. */
function Actor({ actor }: { actor: string }) {
  const { trail } = useWords()
  const known = place.exec(actor)
  const [name, address] = known ? [known[1] ?? trail.somebody, known[2]] : [actor]
  return (
    <div>
      <Text>{name}</Text>
      {address && (
        <Text size="xs" c="dimmed">
          {address}
        </Text>
      )}
    </div>
  )
}

function What({ action: { command, arguments: told, about, endedAt } }: { action: Action }) {
  const { trail } = useWords()
  return (
    <div>
      <Text>{trail.commands[command] ?? command}</Text>
      <details>
        <summary>{trail.details}</summary>
        <Text size="sm">
          <Code>{[command, ...told].join(' ')}</Code>
        </Text>
        {about && <Code block>{JSON.stringify(about, null, 1)}</Code>}
        {endedAt && (
          <Text size="sm">
            {trail.endedAt}: <Time at={endedAt} />
          </Text>
        )}
      </details>
    </div>
  )
}

const ofCustomer = (subject: string) => `/customers/${subject}`
/** Where the subject of a command is shown. */
const pageOf: [command: RegExp, page: (subject: string) => string][] = [
  [/^orders\b/, (subject) => `/orders/${subject}`],
  [/^(customers|export statement)\b/, ofCustomer],
  // Of a command it is the key.
  [/^keys\b/, (subject) => (subject.startsWith('key_') ? `/search?q=${subject}` : ofCustomer(subject))],
  [/^reconcile carry-out$/, (subject) => `/books/runs/${subject}`],
]

function Subject({ action: { command, subject } }: { action: Action }) {
  if (!subject) return null
  const page = pageOf.find(([form]) => form.test(command))?.[1]
  const id = <Id value={subject} short />
  return page ? (
    <Anchor component={Link} href={page(subject)} inherit>
      <InsideLink value={true}>{id}</InsideLink>
    </Anchor>
  ) : (
    id
  )
}

const tones: Record<string, Tone> = { ok: 'good', failed: 'bad', refused: 'waiting' }

function Outcome({ action: { command, outcome } }: { action: Action }) {
  const { trail } = useWords()
  if (outcome === null) return <Text c="dimmed">{trail.underWay}</Text>
  // A comparison that found something has done its work.
  if (outcome === 'failed' && command.startsWith('reconcile')) {
    return <StatusBadge status={outcome} label={trail.foundSomething} tone="waiting" />
  }
  // Anything else is what the error said.
  const known = trail.outcomes[outcome]
  return (
    <div>
      <StatusBadge status={outcome} label={known ?? trail.outcomes.failed ?? outcome} tone={tones[outcome] ?? 'bad'} />
      {!known && (
        <Text size="xs" lang="en" mt={2}>
          {outcome}
        </Text>
      )}
    </div>
  )
}
