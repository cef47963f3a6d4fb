// Accepts that part of a payment was cancelled at the gateway: the order is REFUNDED with what the gateway returned, and the
// operator decides how many of its credits are deducted.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Data } from '../../api/client.ts'
import { affectedByAcceptance } from '../../api/refreshes.ts'
import { useFormats } from '../../format/formats.ts'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { useWords } from '../../words/words.tsx'

type Order = NonNullable<Data<'discrepancy'>['order']>
type Props = { opened: boolean; discrepancyId: string; order: Order; onClose(): void; onAccepted(): void }

export function AcceptDialog({ opened, discrepancyId, order, onClose, onAccepted }: Props) {
  const { accept } = useWords().discrepancy
  const { number } = useFormats()
  const [typed, setTyped] = useState('')
  const text = typed.trim().replaceAll(',', '')
  const isAcceptable = /^\d{1,9}$/.test(text) && Number(text) <= order.credits
  function close(): void {
    setTyped('')
    onClose()
  }
  return (
    <ReasonDialog
      opened={opened}
      onClose={close}
      title={accept.title}
      text={accept.text}
      action={accept.action}
      isDestructive
      isBlocked={!isAcceptable}
      focus="first"
      endpoint="acceptDiscrepancy"
      inputOf={(reason) => ({ params: { discrepancyId }, body: { credits: Number(text), reason } })}
      refreshes={affectedByAcceptance}
      problemOf={({ code, reason }) => (reason === null ? (accept.problems[code] ?? null) : null)}
      onDone={onAccepted}
    >
      <TextInput
        label={accept.credits}
        description={accept.creditsHint(number(order.credits))}
        error={text === '' || isAcceptable ? null : accept.creditsWrong}
        inputMode="numeric"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        maxLength={12}
        required
      />
    </ReasonDialog>
  )
}
