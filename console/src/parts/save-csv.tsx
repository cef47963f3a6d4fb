// A button that downloads a CSV file in the language of the page, for roles that may export. Errors are shown below it.
import { Button, Stack } from '@mantine/core'
import { useState } from 'react'
import { type ApiError, type ExportName, type RequestPath, readFile } from '../api/client.ts'
import { useMay } from '../api/hooks.ts'
import { DownloadIcon } from '../shell/icons.tsx'
import { useLanguage, useWords } from '../words/words.tsx'
import { Problem } from './problem.tsx'

type Props = RequestPath & { name: ExportName; label?: string; disabled?: boolean }

export function SaveCsv({ name, params, query, label, disabled }: Props) {
  const { common } = useWords()
  const { language } = useLanguage()
  const [isSaving, setIsSaving] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  if (!useMay('export')) return null

  async function save(): Promise<void> {
    setIsSaving(true)
    setError(null)
    try {
      download(await readFile(name, { params, query: { ...query, language } }))
    } catch (problem) {
      setError(problem as ApiError)
    } finally {
      setIsSaving(false)
    }
  }

  return (
    <Stack gap="xs" align="flex-start">
      <Button variant="default" leftSection={<DownloadIcon />} loading={isSaving} disabled={disabled} onClick={save}>
        {label ?? common.saveCsv}
      </Button>
      <Problem error={error} />
    </Stack>
  )
}

/** Every browser has started the download by then. */
const keptMs = 60_000

function download({ name, content }: { name: string; content: Blob }): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  window.setTimeout(() => URL.revokeObjectURL(link.href), keptMs)
}
