// Shows a new secret once. The parent keeps it in a state that is cleared with the dialog: it is in no cache, no URL, and on no page
// afterwards. Only its button closes the dialog. All of it is visible: it wraps.
import { Button, CopyButton, Group, Modal, Stack, Text, Textarea, VisuallyHidden } from '@mantine/core'
import { CheckIcon, CopyIcon } from '../shell/icons.tsx'
import { useWords } from '../words/words.tsx'

export type ShownSecret = {
  title: string
  text: string
  /** What the secret is. */
  label: string
  value: string
  /** Its id, below the label. */
  description?: string
  /** What else has happened. */
  note?: string
}

export function SecretDialog({ secret, onClose }: { secret: ShownSecret | null; onClose(): void }) {
  const { common } = useWords()
  return (
    <Modal
      opened={secret !== null}
      onClose={onClose}
      title={secret?.title}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      // No fade-out, which would still show the secret.
      transitionProps={{ duration: 0 }}
    >
      {secret && (
        <Stack gap="sm">
          <Text size="sm">{secret.text}</Text>
          <Textarea
            label={secret.label}
            description={secret.description}
            value={secret.value}
            readOnly
            autosize
            autoComplete="off"
            spellCheck={false}
            onFocus={(event) => event.currentTarget.select()}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', wordBreak: 'break-all' } }}
            data-autofocus
          />
          {secret.note && <Text size="sm">{secret.note}</Text>}
          <Group justify="flex-end" gap="xs">
            <Copy value={secret.value} />
            <Button onClick={onClose}>{common.copiedByMe}</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

function Copy({ value }: { value: string }) {
  const { common } = useWords()
  return (
    <CopyButton value={value} timeout={3000}>
      {({ copied, copy }) => (
        <>
          <Button variant="default" leftSection={copied ? <CheckIcon /> : <CopyIcon />} onClick={copy}>
            {common.copy}
          </Button>
          <VisuallyHidden role="status">{copied ? common.copied : ''}</VisuallyHidden>
        </>
      )}
    </CopyButton>
  )
}
