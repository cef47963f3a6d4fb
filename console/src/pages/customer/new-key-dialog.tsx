// Shows a new API key once.
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { useWords } from '../../words/words.tsx'

export type NewKey = { customerId: string; keyId: string; apiKey: string; suspendedKeyId?: string }

export function NewKeyDialog({ newKey, onClose }: { newKey: NewKey | null; onClose(): void }) {
  const { secret: words } = useWords().customers
  const secret = newKey && {
    title: words.title,
    text: words.text,
    label: words.key,
    value: newKey.apiKey,
    description: `${words.keyId}: ${newKey.keyId}`,
    ...(newKey.suspendedKeyId && { note: words.replaced(newKey.suspendedKeyId) }),
  }
  return <SecretDialog secret={secret} onClose={onClose} />
}
