// Actions of operators as a table: all of them, or those on one subject.
import { Anchor, Code, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Data } from '../../../../src/console/contract.ts'
import { usePages } from '../../api/hooks.ts'
import { Id, InsideLink } from '../../format/id.tsx'
import { StatusBadge, type Tone } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { refusalIn } from '../../parts/error-text.ts'
import { useWords } from '../../words/words.tsx'

type Action = Data<'actionLog'>['actions'][number]
export type ActionFilter = { subject?: string; actor?: string; command?: string; from?: string; to?: string }
type Props = ActionFilter & { isOnItsPage?: boolean }

/** `isOnItsPage`: the table is on the page of its subject and does not repeat it. */
export function ActionsTable({ isOnItsPage = false, ...filter }: Props) {
  const { actionLog } = useWords()
  const { subject } = filter
  const pages = usePages('actionLog', { query: filter }, (data) => data.actions)
  const columns: Column<Action>[] = [
    { header: actionLog.at, place: 'line', cell: ({ at }) => <Time at={at} /> },
    { header: actionLog.actor, place: 'line', cell: ({ actor }) => <Actor actor={actor} /> },
    { header: actionLog.command, place: 'title', cell: (action) => <Command action={action} /> },
    ...(isOnItsPage ? [] : [{ header: actionLog.subject, cell: (action: Action) => <Subject action={action} /> }]),
    { header: actionLog.reason, cell: ({ reason }) => reason ?? <Text c="dimmed">–</Text> },
    { header: actionLog.outcome, place: 'badge', cell: (action) => <Outcome action={action} /> },
  ]
  return (
    <DataTable
      caption={subject ? actionLog.onlyAbout(subject) : actionLog.caption}
      columns={columns}
      rows={pages.rows}
      pages={pages}
      keyOf={(action) => action.actionId}
      empty={Object.keys(filter).length > 0 ? actionLog.emptyAbout : actionLog.empty}
    />
  )
}

const place = /^(?:somebody|(.+) in the console) from (.+)$/

/** `NAME in the console from ADDRESS`, `somebody from ADDRESS` for a failed sign-in, or the user of the command line. */
function Actor({ actor }: { actor: string }) {
  const { actionLog } = useWords()
  const known = place.exec(actor)
  const [name, address] = known ? [known[1] ?? actionLog.unknownActor, known[2]] : [actor]
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

function Command({ action }: { action: Action }) {
  const { command, arguments: words, about, endedAt } = action
  const { actionLog } = useWords()
  // Actions on a key are listed under its customer.
  const [keyId] = words.filter((word) => word.startsWith('key_'))
  return (
    <div>
      <Text>{actionLog.commands[command] ?? command}</Text>
      {keyId && <Id value={keyId} short />}
      <details>
        <summary>{actionLog.details}</summary>
        <Text size="sm">
          <Code>{[command, ...words].join(' ')}</Code>
        </Text>
        {about && <Code block>{JSON.stringify(about, null, 1)}</Code>}
        {endedAt && (
          <Text size="sm">
            {actionLog.endedAt}: <Time at={endedAt} />
          </Text>
        )}
      </details>
    </div>
  )
}

const ofCustomer = (subject: string) => `/customers/${subject}`
/** The page of the subject of a command. */
const pageOf: [command: RegExp, page: (subject: string) => string][] = [
  [/^orders\b/, (subject) => `/orders/${subject}`],
  [/^(customers|export statement)\b/, ofCustomer],
  // For an unknown key the subject is the id that was typed.
  [/^keys\b/, (subject) => (subject.startsWith('key_') ? `/search?q=${subject}` : ofCustomer(subject))],
  [/^endpoints\b/, (subject) => `/events/${subject}`],
  [/^services\b/, () => '/services'],
  [/^discrepancies\b/, (subject) => `/books/discrepancies/${subject}`],
  [/^reconcile\b/, (subject) => `/books/runs/${subject}`],
]

/** A customer by the name, an order or a discrepancy with the name of its customer. */
function Subject({ action: { command, subject, subjectName } }: { action: Action }) {
  if (!subject) return null
  const page = pageOf.find(([form]) => form.test(command))?.[1]
  const isCustomer = subjectName !== null && page?.(subject) === ofCustomer(subject)
  const id = (
    <div>
      {!isCustomer && <Id value={subject} short />}
      {subjectName && <Text {...(!isCustomer && { size: 'xs' })}>{subjectName}</Text>}
    </div>
  )
  return page ? (
    <Anchor component={Link} href={page(subject)} inherit>
      <InsideLink value={true}>{id}</InsideLink>
    </Anchor>
  ) : (
    id
  )
}

const tones: Record<string, Tone> = {
  ok: 'good',
  failed: 'bad',
  requested: 'waiting',
  refused: 'waiting',
  unknown: 'waiting',
}

/** An outcome that is the text of an error: refused, or not known, since what was requested may still have been done. */
function resultOf(outcome: string): string {
  if (Object.hasOwn(tones, outcome)) return outcome
  if (/^(refused|INVALID_API_KEY|PAYMENT_CANCEL_FAILED|(AUTH|VAL|BUS|NOT)\d{3})\b/.test(outcome)) return 'refused'
  return /^(SVC001|INT001)\b/.test(outcome) ? 'unknown' : 'failed'
}

function Outcome({ action: { command, outcome } }: { action: Action }) {
  const words = useWords()
  const { actionLog } = words
  if (outcome === null) return <Text c="dimmed">{actionLog.underWay}</Text>
  // A reconciliation that found discrepancies has not failed.
  if (outcome === 'failed' && command.startsWith('reconcile')) {
    return <StatusBadge status={outcome} label={actionLog.foundSomething} tone="waiting" />
  }
  const refusal = refusalIn(outcome, words).text
  const result = resultOf(outcome)
  return (
    <div>
      <StatusBadge status={result} label={actionLog.outcomes[result] ?? result} tone={tones[result] ?? 'bad'} />
      {refusal && (
        <Text size="xs" mt={2}>
          {refusal.title}
        </Text>
      )}
      {result !== outcome && (
        <Text size="xs" c={refusal && 'dimmed'} lang="en" mt={2}>
          {outcome}
        </Text>
      )}
    </div>
  )
}
