// A button that downloads a CSV file in the language of the page, for roles that may export. Errors are shown below it.
import { Button, Stack } from '@mantine/core'
import { type ExportName, type RequestPath, readFile } from '../../api/client.ts'
import { useMay } from '../../api/hooks.ts'
import { DownloadIcon } from '../../shell/icons.tsx'
import { useLanguage, useWords } from '../../words/words.tsx'
import { Problem } from '../problem.tsx'
import { useDownload } from './download.ts'

type Props = RequestPath & { name: ExportName; label?: string; disabled?: boolean }

export function SaveCsv({ name, params, query, label, disabled }: Props) {
  const { common } = useWords()
  const { language } = useLanguage()
  const { isSaving, error, save } = useDownload()
  if (!useMay('export')) return null
  const read = () => readFile(name, { params, query: { ...query, language } })
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        variant="default"
        leftSection={<DownloadIcon />}
        loading={isSaving}
        disabled={disabled}
        onClick={() => save(read)}
      >
        {label ?? common.saveCsv}
      </Button>
      <Problem error={error} />
    </Stack>
  )
}
