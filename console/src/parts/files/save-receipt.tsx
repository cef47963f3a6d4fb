// A button that downloads a receipt: of an order, or of entries of a customer. Errors are shown below it.
import { Button, Stack } from '@mantine/core'
import { call, type Data, type Input } from '../../api/client.ts'
import { DownloadIcon } from '../../shell/icons.tsx'
import { Problem } from '../problem.tsx'
import { useDownload } from './download.ts'

type ReceiptEndpoint = 'orderReceipt' | 'statementReceipt'
type Props<Name extends ReceiptEndpoint> = { endpoint: Name; input: Input<Name>; label: string; disabled?: boolean }

export function SaveReceipt<Name extends ReceiptEndpoint>({ endpoint, input, label, disabled }: Props<Name>) {
  const { isSaving, error, save } = useDownload()
  async function read() {
    const { name, content }: Data<ReceiptEndpoint> = await call(endpoint, input)
    return { name, content: new Blob([content], { type: 'application/json' }) }
  }
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        variant="default"
        leftSection={<DownloadIcon />}
        loading={isSaving}
        disabled={disabled}
        onClick={() => save(read)}
      >
        {label}
      </Button>
      <Problem error={error} />
    </Stack>
  )
}
