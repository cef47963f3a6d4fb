// The tokens of the platform's services, and their budgets over all customers. A new token is shown once.
import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { defaultScopes, readScopes, tokenScopes } from '../../../../src/core/token-scopes.ts'
import type { Data, EndpointName } from '../../api/client.ts'
import { useEndpoint, useMay } from '../../api/hooks.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { SecretDialog, type ShownSecret } from '../../parts/secret-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { ServiceBudgets } from './service-budgets.tsx'

type Token = Data<'services'>['tokens'][number]

const refreshes: EndpointName[] = ['services', 'actionLog']

export function TokensPage() {
  const { tokens: words } = useWords()
  const { columns: headers } = words
  const mayIssue = useMay('issue tokens')
  const { data, error, isLoading } = useEndpoint('services', {})
  const [isIssuing, setIsIssuing] = useState(false)
  const [chosen, setChosen] = useState<Token | null>(null)
  const [secret, setSecret] = useState<ShownSecret | null>(null)
  const { frame, keepFocus } = useKeptFocus()
  const columns: Column<Token>[] = [
    { header: headers.name, place: 'title', cell: ({ name }) => name },
    { header: headers.status, place: 'badge', cell: ({ status }) => <StatusBadge status={status} /> },
    { header: headers.scopes, cell: ({ scopes }) => scopes.map((scope) => words.scopes[scope]).join(', ') },
    { header: headers.ends, cell: ({ lastFour }) => <code>{`…${lastFour}`}</code> },
    { header: headers.token, cell: ({ serviceId }) => <Id value={serviceId} short /> },
    { header: headers.issued, cell: ({ createdAt }) => <Time at={createdAt} /> },
    ...(mayIssue
      ? [{ header: headers.actions, cell: (token: Token) => <Switch token={token} onOpen={setChosen} /> }]
      : []),
  ]
  return (
    <>
      <PageHeader
        title={words.title}
        actions={mayIssue && <Button onClick={() => setIsIssuing(true)}>{words.issue.button}</Button>}
      />
      <Stack gap="xl">
        <Stack gap="sm" ref={frame} tabIndex={-1} role="group" aria-label={words.caption} style={{ outline: 'none' }}>
          <Text size="sm" c="dimmed">
            {words.intro}
          </Text>
          <DataTable
            caption={words.caption}
            columns={columns}
            rows={data?.tokens ?? []}
            keyOf={({ serviceId }) => serviceId}
            isLoading={isLoading}
            error={error}
            empty={words.none}
          />
        </Stack>
        <ServiceBudgets services={[...new Set(data?.tokens.map(({ name }) => name))]} />
      </Stack>
      {isIssuing && (
        <IssueToken
          onClose={() => setIsIssuing(false)}
          onDone={({ token: value, name, serviceId }) => {
            setSecret({ ...words.secret, value, description: `${name} · ${serviceId}` })
          }}
        />
      )}
      {chosen && (
        <StatusDialog
          token={chosen}
          onClose={() => setChosen(null)}
          onDone={(text) => {
            announce(text)
            keepFocus()
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

function useSwitch({ status, name, lastFour }: Token) {
  const { tokens: words } = useWords()
  return status === 'ACTIVE'
    ? { label: words.suspend, title: words.suspendOf(name, lastFour), text: words.suspendText, done: words.suspended }
    : {
        label: words.activate,
        title: words.activateOf(name, lastFour),
        text: words.activateText,
        done: words.activated,
      }
}

function Switch({ token, onOpen }: { token: Token; onOpen(token: Token): void }) {
  const { label, title } = useSwitch(token)
  return (
    <Button size="compact-sm" variant="default" aria-label={title} onClick={() => onOpen(token)}>
      {label}
    </Button>
  )
}

type StatusProps = { token: Token; onClose(): void; onDone(text: string): void }

function StatusDialog({ token, onClose, onDone }: StatusProps) {
  const { label, title, text, done } = useSwitch(token)
  const isActive = token.status === 'ACTIVE'
  return (
    <ReasonDialog
      onClose={onClose}
      title={title}
      text={text}
      action={label}
      isDestructive={isActive}
      endpoint={isActive ? 'suspendToken' : 'activateToken'}
      inputOf={(reason) => ({ params: { serviceId: token.serviceId }, body: { reason } })}
      refreshes={refreshes}
      onDone={() => onDone(done)}
    />
  )
}

function IssueToken({ onClose, onDone }: { onClose(): void; onDone(issued: Data<'issueToken'>): void }) {
  const { issue: words } = useWords().tokens
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<string[]>([...defaultScopes])
  const scopes = readScopes(chosen)
  /** `manage-holds` goes with `hold`. */
  function choose(names: string[]): void {
    setChosen(names.includes('hold') ? names : names.filter((each) => each !== 'manage-holds'))
  }
  return (
    <ReasonDialog
      onClose={onClose}
      title={words.title}
      text={words.text}
      action={words.action}
      focus="first"
      isBlocked={name.trim() === '' || !scopes}
      endpoint="issueToken"
      inputOf={(reason) => ({ body: { name: name.trim(), scopes: scopes ?? [], reason } })}
      refreshes={refreshes}
      onDone={onDone}
    >
      <TextInput
        label={words.name}
        description={words.nameHint}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={100}
        required
      />
      <Checkbox.Group label={words.scopes} description={words.scopesHint} value={chosen} onChange={choose}>
        <Stack gap={2} mt={6}>
          {tokenScopes.map((scope) => (
            <Checkbox
              key={scope}
              value={scope}
              label={words.scopeOf[scope]}
              disabled={scope === 'manage-holds' && !chosen.includes('hold')}
              styles={{ label: { lineHeight: '24px' } }}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </ReasonDialog>
  )
}
