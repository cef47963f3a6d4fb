// What operators did, as a table: of everything, or of what is about one thing.
import { Anchor, Code, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Data } from '../../../../src/console/contract.ts'
import { usePages } from '../../api/hooks.ts'
import { Id, InsideLink } from '../../format/id.tsx'
import { StatusBadge, type Tone } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { refusalIn } from '../../parts/told.ts'
import { useWords } from '../../words/words.tsx'

type Action = Data<'trail'>['actions'][number]
type Props = { subject?: string | undefined; isOnItsPage?: boolean }

/** `isOnItsPage`: what it is about needs no telling. */
export function ActionsTable({ subject, isOnItsPage = false }: Props) {
  const { trail } = useWords()
  const pages = usePages('trail', { query: subject ? { subject } : {} }, (data) => data.actions)
  const columns: Column<Action>[] = [
    { header: trail.at, cell: ({ at }) => <Time at={at} /> },
    { header: trail.actor, cell: ({ actor }) => <Actor actor={actor} /> },
    { header: trail.command, cell: (action) => <What action={action} /> },
    ...(isOnItsPage ? [] : [{ header: trail.subject, cell: (action: Action) => <Subject action={action} /> }]),
    { header: trail.reason, cell: ({ reason }) => reason ?? <Text c="dimmed">–</Text> },
    { header: trail.outcome, cell: (action) => <Outcome action={action} /> },
  ]
  return (
    <DataTable
      caption={subject ? trail.onlyAbout(subject) : trail.caption}
      columns={columns}
      rows={pages.rows}
      pages={pages}
      keyOf={(action) => action.actionId}
      empty={subject ? trail.emptyAbout : trail.empty}
    />
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
  // On the trail of its customer: which key it was.
  const [keyId] = told.filter((word) => word.startsWith('key_'))
  return (
    <div>
      <Text>{trail.commands[command] ?? command}</Text>
      {keyId && <Id value={keyId} short />}
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
  // Of a key that there is not, what was typed.
  [/^keys\b/, (subject) => (subject.startsWith('key_') ? `/search?q=${subject}` : ofCustomer(subject))],
  [/^discrepancies\b/, (subject) => `/books/discrepancies/${subject}`],
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
  const words = useWords()
  const { trail } = words
  if (outcome === null) return <Text c="dimmed">{trail.underWay}</Text>
  // A comparison that found something has done its work.
  if (outcome === 'failed' && command.startsWith('reconcile')) {
    return <StatusBadge status={outcome} label={trail.foundSomething} tone="waiting" />
  }
  // Anything else is what the error said.
  const known = trail.outcomes[outcome]
  const refusal = refusalIn(outcome, words).told
  return (
    <div>
      <StatusBadge status={outcome} label={known ?? trail.outcomes.failed ?? outcome} tone={tones[outcome] ?? 'bad'} />
      {refusal && (
        <Text size="xs" mt={2}>
          {refusal.title}
        </Text>
      )}
      {!known && (
        <Text size="xs" c={refusal && 'dimmed'} lang="en" mt={2}>
          {outcome}
        </Text>
      )}
    </div>
  )
}
