// The head of a page: its title, which is also the window title, and the actions of the whole page. After navigation the focus
// moves to the heading, so that screen readers read it.
import { Group, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from '../parts/parts.module.css'
import { useWords } from '../words/words.tsx'

let isFirstPage = true

export function PageHeader({ title, detail, actions }: { title: string; detail?: ReactNode; actions?: ReactNode }) {
  const words = useWords()
  const heading = useRef<HTMLHeadingElement>(null)
  useDocumentTitle(`${title} · ${words.common.product}`)
  useEffect(() => {
    // Screen readers announce the first page themselves.
    if (!isFirstPage && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
    isFirstPage = false
  }, [])
  return (
    <Group justify="space-between" align="flex-end" mb="md" gap="sm">
      <div className={classes.headerText}>
        <Title order={1} size="h3" ref={heading} tabIndex={-1} className={classes.heading}>
          {title}
        </Title>
        {detail}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  )
}
