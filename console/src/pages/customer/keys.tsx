// The API keys of a customer. Issuing and rotating show the new key once. Every action asks for a reason.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Data, EndpointName } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { type NewKey, NewKeyDialog } from './new-key-dialog.tsx'

type Customer = Data<'customer'>
type Key = Customer['keys'][number]
type Dialog = { act: 'suspend' | 'activate' | 'rotate'; key: Key } | { act: 'issue'; key: null }

const refreshes: EndpointName[] = ['customer', 'actionLog']

export function Keys({ customer: { customerId, keys } }: { customer: Customer }) {
  const { keys: words } = useWords().customers
  const { columns: headers } = words
  const maySuspend = useMay('suspend keys')
  const mayIssue = useMay('issue keys')
  const [current, setCurrent] = useState<Dialog | null>(null)
  const [isOpen, setIsOpen] = useState(false)
  const [newKey, setNewKey] = useState<NewKey | null>(null)
  const end = current?.key?.lastFour ?? ''
  const keyId = current?.key?.keyId ?? ''

  /** The button of a finished action is gone: the focus moves to the list. */
  const { frame, keepFocus } = useKeptFocus()
  function open(next: Dialog): void {
    setCurrent(next)
    setIsOpen(true)
  }
  function announceDone(message: string): void {
    announce(message)
    keepFocus()
  }
  /** The content stays while the dialog fades out. */
  const dialog = (act: Dialog['act']) => ({
    opened: isOpen && current?.act === act,
    onClose: () => setIsOpen(false),
  })
  const inputOfKey = (reason: string) => ({ params: { keyId }, body: { reason } })

  const columns: Column<Key>[] = [
    { header: headers.key, place: 'folded', cell: ({ keyId: id }) => <Id value={id} short /> },
    { header: headers.ends, place: 'title', cell: ({ lastFour }) => <code>{`…${lastFour}`}</code> },
    { header: headers.status, place: 'badge', cell: ({ status }) => <StatusBadge status={status} /> },
    { header: headers.issued, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: headers.suspended, cell: ({ suspendedAt }) => suspendedAt && <Time at={suspendedAt} /> },
    ...(maySuspend ? [{ header: headers.actions, cell: (key: Key) => <KeyActions apiKey={key} onOpen={open} /> }] : []),
  ]
  return (
    <Stack gap="sm" ref={frame} tabIndex={-1} role="group" aria-label={words.caption} style={{ outline: 'none' }}>
      {mayIssue ? (
        <Group>
          <Button onClick={() => open({ act: 'issue', key: null })}>{words.issue}</Button>
        </Group>
      ) : (
        maySuspend && <Text c="dimmed">{words.askAdmin}</Text>
      )}
      <DataTable
        caption={words.caption}
        columns={columns}
        rows={keys}
        keyOf={({ keyId: id }) => id}
        empty={words.none}
      />
      <ReasonDialog
        {...dialog('issue')}
        title={words.issueTitle}
        text={words.issueText}
        action={words.issueAction}
        endpoint="issueKey"
        inputOf={(reason) => ({ params: { customerId }, body: { reason } })}
        refreshes={refreshes}
        onDone={setNewKey}
      />
      <ReasonDialog
        {...dialog('suspend')}
        title={words.suspendOf(end)}
        text={words.suspendText}
        action={words.suspend}
        isDestructive
        endpoint="suspendKey"
        inputOf={inputOfKey}
        refreshes={refreshes}
        onDone={() => announceDone(words.suspended(end))}
      />
      <ReasonDialog
        {...dialog('activate')}
        title={words.activateOf(end)}
        text={words.activateText}
        action={words.activate}
        endpoint="activateKey"
        inputOf={inputOfKey}
        refreshes={refreshes}
        onDone={() => announceDone(words.activated(end))}
      />
      <ReasonDialog
        {...dialog('rotate')}
        title={words.rotateOf(end)}
        text={words.rotateText}
        action={words.rotateAction}
        isDestructive
        endpoint="rotateKey"
        inputOf={inputOfKey}
        refreshes={refreshes}
        onDone={setNewKey}
      />
      <NewKeyDialog
        newKey={newKey}
        onClose={() => {
          setNewKey(null)
          keepFocus()
        }}
      />
    </Stack>
  )
}

function KeyActions({ apiKey, onOpen }: { apiKey: Key; onOpen(dialog: Dialog): void }) {
  const { keys: words } = useWords().customers
  const { status, lastFour } = apiKey
  const mayIssue = useMay('issue keys')
  const labels = {
    suspend: { text: words.suspend, label: words.suspendOf(lastFour) },
    activate: { text: words.activate, label: words.activateOf(lastFour) },
    rotate: { text: words.rotate, label: words.rotateOf(lastFour) },
  }
  const withoutIssuing = status === 'ACTIVE' ? (['suspend'] as const) : []
  const withIssuing = status === 'ACTIVE' ? (['rotate', 'suspend'] as const) : (['activate'] as const)
  const possible = mayIssue ? withIssuing : withoutIssuing
  return (
    <Group gap="xs" wrap="nowrap">
      {possible.map((act) => (
        <Button
          key={act}
          size="compact-sm"
          variant="default"
          aria-label={labels[act].label}
          onClick={() => onOpen({ act, key: apiKey })}
        >
          {labels[act].text}
        </Button>
      ))}
    </Group>
  )
}
