// Suspends a customer, or ends that: a notice while it lasts, and the buttons for roles that may.
import { Alert, Button, Group } from '@mantine/core'
import { useState } from 'react'
import type { Data, EndpointName } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { LabelledTime } from '../../parts/labelled-time.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useWords } from '../../words/words.tsx'

const refreshes: EndpointName[] = ['customer', 'customers', 'actionLog']

export function SuspensionNotice({ suspendedAt }: { suspendedAt: string | null }) {
  const { suspension: words } = useWords().customers
  if (suspendedAt === null) return null
  return (
    <Alert color="red" title={words.isSuspended}>
      {words.notice} <LabelledTime label={words.since} at={suspendedAt} />
    </Alert>
  )
}

export function SuspensionButton({ customer: { customerId, suspendedAt } }: { customer: Data<'customer'> }) {
  const { suspension: words } = useWords().customers
  const maySuspend = useMay('suspend keys')
  const mayActivate = useMay('issue keys')
  const [isOpen, setIsOpen] = useState(false)
  const isSuspended = suspendedAt !== null
  if (isSuspended ? !mayActivate : !maySuspend) return null
  const inputOf = (reason: string) => ({ params: { customerId }, body: { reason } })
  const common = { opened: isOpen, onClose: () => setIsOpen(false), inputOf, refreshes }
  return (
    <Group>
      <Button variant="default" size="xs" onClick={() => setIsOpen(true)}>
        {isSuspended ? words.activate : words.suspend}
      </Button>
      {isSuspended ? (
        <ReasonDialog
          {...common}
          title={words.activate}
          text={words.activateText}
          action={words.activate}
          endpoint="activateCustomer"
          onDone={() => announce(words.activated)}
        />
      ) : (
        <ReasonDialog
          {...common}
          title={words.suspend}
          text={words.suspendText}
          action={words.suspend}
          isDestructive
          endpoint="suspendCustomer"
          onDone={() => announce(words.suspended)}
        />
      )}
    </Group>
  )
}
