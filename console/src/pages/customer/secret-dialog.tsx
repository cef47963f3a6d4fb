// Shows a new key once. The parent keeps the key in a state that is cleared with the dialog: it is in no cache, no URL, and on no
// page afterwards. Only its button closes the dialog.
import { ActionIcon, Button, CopyButton, Group, Modal, Stack, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { CheckIcon, CopyIcon } from '../../shell/icons.tsx'
import { useWords } from '../../words/words.tsx'

export type Secret = { customerId: string; keyId: string; apiKey: string; suspendedKeyId?: string }

export function SecretDialog({ secret, onClose }: { secret: Secret | null; onClose(): void }) {
  const { secret: words } = useWords().customers
  return (
    <Modal
      opened={secret !== null}
      onClose={onClose}
      title={words.title}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      // No fade-out, which would still show the key.
      transitionProps={{ duration: 0 }}
    >
      {secret && (
        <Stack gap="sm">
          <Text size="sm">{words.text}</Text>
          <TextInput
            label={words.key}
            description={`${words.keyId}: ${secret.keyId}`}
            value={secret.apiKey}
            readOnly
            autoComplete="off"
            spellCheck={false}
            onFocus={(event) => event.currentTarget.select()}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            rightSection={<CopyKey apiKey={secret.apiKey} />}
            data-autofocus
          />
          {secret.suspendedKeyId && <Text size="sm">{words.replaced(secret.suspendedKeyId)}</Text>}
          <Group justify="flex-end">
            <Button onClick={onClose}>{words.done}</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

function CopyKey({ apiKey }: { apiKey: string }) {
  const { secret: words } = useWords().customers
  return (
    <CopyButton value={apiKey} timeout={3000}>
      {({ copied, copy }) => (
        <>
          <ActionIcon variant="subtle" onClick={copy} aria-label={words.copy} title={words.copy}>
            {copied ? <CheckIcon /> : <CopyIcon />}
          </ActionIcon>
          <VisuallyHidden role="status">{copied ? words.copied : ''}</VisuallyHidden>
        </>
      )}
    </CopyButton>
  )
}
