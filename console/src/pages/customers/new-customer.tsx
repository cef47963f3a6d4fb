// Creates a customer. Roles that may issue keys get the first key with it.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMay } from '../../api/hooks.ts'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { useWords } from '../../words/words.tsx'
import type { NewKey } from '../customer/new-key-dialog.tsx'

/** The same rule as in the service. */
const acceptableName = /^(?=.*\S)[^\p{Cc}]{1,100}$/u

type Created = { customerId: string } | NewKey
type Props = { opened: boolean; onClose(): void; onCreated(created: Created): void }

export function NewCustomer({ opened, onClose, onCreated }: Props) {
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
      focus="first"
      endpoint={mayIssue ? 'createCustomerWithKey' : 'createCustomer'}
      inputOf={(reason) => ({ body: { name: name.trim(), reason } })}
      refreshes={['customers', 'actionLog']}
      problemOf={({ fields }) => (fields.some(({ field }) => field === 'name') ? create.nameTaken : null)}
      onDone={onCreated}
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
