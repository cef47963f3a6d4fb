// The webhook endpoints with what waits, what fails and what is dead, and a dialog that adds one.
import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Data, EndpointName } from '../../api/client.ts'
import { useEndpoint, useMay } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { SecretDialog, type ShownSecret } from '../../parts/secret-dialog.tsx'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'

type Row = Data<'eventEndpoints'>['endpoints'][number]
type EventType = Data<'eventEndpoints'>['knownTypes'][number]

const refreshes: EndpointName[] = ['eventEndpoints', 'actionLog']
const refetchMs = 5_000

export function EventsPage() {
  const { events } = useWords()
  const { columns: headers, secret: secretWords } = events
  const { number } = useFormats()
  const mayManage = useMay('manage endpoints')
  const { data, error, isLoading } = useEndpoint('eventEndpoints', {}, { refetchMs })
  const [isAdding, setIsAdding] = useState(false)
  const [secret, setSecret] = useState<ShownSecret | null>(null)
  const { frame, keepFocus } = useKeptFocus()
  const columns: Column<Row>[] = [
    { header: headers.host, place: 'title', cell: ({ host }) => host },
    { header: headers.id, place: 'line', cell: ({ endpointId }) => <Id value={endpointId} short /> },
    { header: headers.status, place: 'badge', cell: (row) => <EndpointStatus endpoint={row} /> },
    { header: headers.waiting, align: 'right', cell: ({ waitingEvents }) => number(waitingEvents) },
    { header: headers.failing, cell: ({ failingSince }) => failingSince && <Time at={failingSince} /> },
    { header: headers.dead, align: 'right', cell: ({ deadEvents }) => number(deadEvents) },
    { header: headers.types, cell: ({ types }) => <Types types={types} /> },
    { header: headers.added, place: 'folded', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  return (
    <>
      <PageHeader
        title={events.title}
        actions={mayManage && <Button onClick={() => setIsAdding(true)}>{events.add.button}</Button>}
      />
      <Stack gap="sm" ref={frame} tabIndex={-1} role="group" aria-label={events.caption} style={{ outline: 'none' }}>
        <Text size="sm" c="dimmed">
          {events.intro}
        </Text>
        <DataTable
          caption={events.caption}
          columns={columns}
          rows={data?.endpoints ?? []}
          keyOf={({ endpointId }) => endpointId}
          linkOf={({ endpointId }) => `/events/${endpointId}`}
          isLoading={isLoading}
          error={error}
          empty={events.none}
        />
      </Stack>
      {isAdding && (
        <AddEndpoint
          knownTypes={data?.knownTypes ?? []}
          onClose={() => setIsAdding(false)}
          onDone={({ secret: value, host }) => {
            const { title, text, label } = secretWords
            setSecret({ title, text, label, value, description: host })
          }}
        />
      )}
      <SecretDialog
        secret={secret}
        onClose={() => {
          setSecret(null)
          keepFocus()
        }}
      />
    </>
  )
}

export function EndpointStatus({ endpoint: { status, failingSince } }: { endpoint: Row }) {
  const { statuses } = useWords().events
  if (status === 'DISABLED') return <StatusBadge status={status} label={statuses.DISABLED} tone="over" />
  return failingSince ? (
    <StatusBadge status="FAILING" label={statuses.FAILING} tone="bad" />
  ) : (
    <StatusBadge status={status} label={statuses.ACTIVE} />
  )
}

export function Types({ types }: { types: string[] }) {
  const { events } = useWords()
  return types.length === 0 ? events.allTypes : types.join(', ')
}

type AddProps = { knownTypes: EventType[]; onClose(): void; onDone(added: Data<'addEndpoint'>): void }

function AddEndpoint({ knownTypes, onClose, onDone }: AddProps) {
  const { add: words } = useWords().events
  const [url, setUrl] = useState('')
  const [types, setTypes] = useState<EventType[]>([])
  return (
    <ReasonDialog
      onClose={onClose}
      title={words.title}
      text={words.text}
      action={words.action}
      focus="first"
      isBlocked={!/^https?:..\S/.test(url.trim())}
      endpoint="addEndpoint"
      inputOf={(reason) => ({ body: { url: url.trim(), types, reason } })}
      refreshes={refreshes}
      onDone={onDone}
    >
      <TextInput
        type="url"
        label={words.url}
        description={words.urlHint}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        maxLength={2000}
        autoComplete="off"
        spellCheck={false}
        required
      />
      <Checkbox.Group label={words.types} description={words.typesHint} value={types} onChange={setTypes}>
        <Stack gap={2} mt={6}>
          {knownTypes.map((type) => (
            <Checkbox key={type} value={type} label={type} styles={{ label: { lineHeight: '24px' } }} />
          ))}
        </Stack>
      </Checkbox.Group>
    </ReasonDialog>
  )
}
