// Asks for the name of a new customer and for the reason. Roles that may issue keys get the first key with it.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMay } from '../../api/hooks.ts'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { useWords } from '../../words/words.tsx'
import type { Secret } from './secret-dialog.tsx'

/** As the service has it. */
const acceptableName = /^(?=.*\S)[^\p{Cc}]{1,100}$/u

type Made = { customerId: string } | Secret
type Props = { opened: boolean; onClose(): void; onMade(made: Made): void }

export function NewCustomer({ opened, onClose, onMade }: Props) {
  const { create } = useWords().customers
  const mayIssue = useMay('issue keys')
  const [name, setName] = useState('')
  function close(): void {
    setName('')
    onClose()
  }
  const isWrong = name !== '' && !acceptableName.test(name.trim())
  return (
    <ReasonDialog
      opened={opened}
      onClose={close}
      title={create.title}
      text={mayIssue ? create.text : create.textWithoutKey}
      action={create.action}
      isBlocked={name.trim() === '' || isWrong}
      endpoint={mayIssue ? 'createCustomerWithKey' : 'createCustomer'}
      inputOf={(reason) => ({ body: { name: name.trim(), reason } })}
      refreshes={['customers', 'trail']}
      problemOf={({ fields }) => (fields.some(({ field }) => field === 'name') ? create.nameTaken : null)}
      onDone={onMade}
    >
      <TextInput
        label={create.name}
        description={create.nameHint}
        error={isWrong ? create.nameWrong : null}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={100}
        required
      />
    </ReasonDialog>
  )
}
