// Saves content as a file of the browser, and the state of a button that does so.
import { useState } from 'react'
import type { ApiError } from '../../api/client.ts'

export type NamedFile = { name: string; content: Blob }

/** `save` reads the file and starts the download. */
export function useDownload() {
  const [isSaving, setIsSaving] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  async function save(read: () => Promise<NamedFile>): Promise<void> {
    setIsSaving(true)
    setError(null)
    try {
      download(await read())
    } catch (problem) {
      setError(problem as ApiError)
    } finally {
      setIsSaving(false)
    }
  }
  return { isSaving, error, save }
}

/** Every browser has started the download by then. */
const keptMs = 60_000

function download({ name, content }: NamedFile): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  window.setTimeout(() => URL.revokeObjectURL(link.href), keptMs)
}
