// The head of a page: its title and the actions of the whole page. The window title says what is shown, so that tabs differ. After
// navigation the focus moves to the heading, so that screen readers read it.
import { Group, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from '../parts/parts.module.css'
import { useWords } from '../words/words.tsx'

let isFirstPage = true

type Props = {
  title: string
  /** The window title if the title is the same for several pages, as "₩20,000 · Acme · Order". */
  tab?: string | undefined
  detail?: ReactNode
  actions?: ReactNode
}

export function PageHeader({ title, tab, detail, actions }: Props) {
  const words = useWords()
  const heading = useRef<HTMLHeadingElement>(null)
  useDocumentTitle(`${tab ?? title} · ${words.common.product}`)
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
