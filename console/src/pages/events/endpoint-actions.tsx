// The actions on an endpoint. A new secret is shown once; removing asks a second time, with what would be lost.
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Data, EndpointName } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { SecretDialog, type ShownSecret } from '../../parts/secret-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { TestResult } from './results.tsx'

type Endpoint = Data<'eventEndpoint'>
type Act =
  | ('testEndpoint' | 'retryEndpoint' | 'disableEndpoint')
  | ('enableEndpoint' | 'rotateEndpoint' | 'removeEndpoint')

export const refreshedByEndpoint: EndpointName[] = [
  'eventEndpoints',
  'eventEndpoint',
  'eventAttempts',
  'deadEvents',
  'home',
  'actionLog',
]
/** A removed endpoint is not found any more. */
const refreshedByRemoval: EndpointName[] = ['eventEndpoints', 'home', 'actionLog']

export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const { events } = useWords()
  const { number } = useFormats()
  const [, go] = useLocation()
  const mayManage = useMay('manage endpoints')
  const mayResend = useMay('resend events')
  const [act, setAct] = useState<Act | null>(null)
  const [isSure, setIsSure] = useState(false)
  const [tested, setTested] = useState<Data<'testEndpoint'> | null>(null)
  const [secret, setSecret] = useState<ShownSecret | null>(null)
  const { frame, keepFocus } = useKeptFocus()
  const { endpointId, host, status, waitingEvents, deadEvents } = endpoint
  const isActive = status === 'ACTIVE'

  const possible: Act[] = [
    ...(mayManage ? (['testEndpoint'] as const) : []),
    ...(mayResend && isActive ? (['retryEndpoint'] as const) : []),
    ...(mayManage
      ? ([isActive ? 'disableEndpoint' : 'enableEndpoint', 'rotateEndpoint', 'removeEndpoint'] as const)
      : []),
  ]
  if (possible.length === 0) return null

  function open(next: Act): void {
    setIsSure(false)
    setTested(null)
    setAct(next)
  }

  function done(data: Data<Act>): void {
    if ('accepted' in data) setTested(data)
    else if ('secret' in data) {
      const { title, text, label, rotated } = events.secret
      setSecret({ title, text, label, value: data.secret, description: host, note: rotated })
    } else if ('customers' in data) {
      announce(data.customers > 0 ? events.done.retried(number(data.customers)) : events.done.nothingWaits)
      keepFocus()
    } else if ('status' in data) {
      announce(data.status === 'ACTIVE' ? events.done.enableEndpoint : events.done.disableEndpoint)
      keepFocus()
    } else {
      announce(events.done.removeEndpoint)
      go('/events')
    }
  }

  return (
    <Stack
      gap="sm"
      ref={frame}
      tabIndex={-1}
      role="group"
      aria-label={events.endpoint.title}
      style={{ outline: 'none' }}
    >
      <Group gap="xs">
        {possible.map((name) => (
          <Button
            key={name}
            variant={name === 'testEndpoint' ? 'filled' : 'default'}
            color={name === 'removeEndpoint' ? 'red' : undefined}
            onClick={() => open(name)}
          >
            {events.acts[name].button}
          </Button>
        ))}
      </Group>
      {tested && <TestResult data={tested} onClose={() => setTested(null)} />}
      {act && (
        <ReasonDialog
          key={act}
          onClose={() => setAct(null)}
          title={events.acts[act].title}
          text={events.acts[act].text}
          action={events.acts[act].action}
          isDestructive={act === 'removeEndpoint'}
          isBlocked={act === 'removeEndpoint' && !isSure}
          endpoint={act}
          inputOf={(reason) => ({ params: { endpointId }, body: { reason } })}
          refreshes={act === 'removeEndpoint' ? refreshedByRemoval : refreshedByEndpoint}
          onDone={done}
        >
          {act === 'removeEndpoint' && (
            <Checkbox
              checked={isSure}
              onChange={(event) => setIsSure(event.currentTarget.checked)}
              label={events.removeSure(number(waitingEvents), number(deadEvents))}
            />
          )}
        </ReasonDialog>
      )}
      <SecretDialog
        secret={secret}
        onClose={() => {
          setSecret(null)
          keepFocus()
        }}
      />
    </Stack>
  )
}
