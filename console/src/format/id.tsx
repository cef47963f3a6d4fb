// An id in a monospace font, shortened where a table has no room, with a button that copies all of it. Inside a link there is no
// button, since links cannot contain one.
import { ActionIcon, CopyButton, Tooltip, VisuallyHidden } from '@mantine/core'
import { createContext, use } from 'react'
import { CheckIcon, CopyIcon } from '../shell/icons.tsx'
import { useWords } from '../words/words.tsx'
import classes from './format.module.css'

export const InsideLink = createContext(false)

const keptAtStart = 8
const keptAtEnd = 4

export function shortened(value: string): string {
  return value.length <= keptAtStart + keptAtEnd + 2
    ? value
    : `${value.slice(0, keptAtStart)}…${value.slice(-keptAtEnd)}`
}

export function Id({ value, short = false }: { value: string; short?: boolean }) {
  const words = useWords()
  const isInsideLink = use(InsideLink)
  const text = (
    <span className={classes.id} data-short={short || undefined} title={short ? value : undefined}>
      {short ? shortened(value) : value}
    </span>
  )
  if (isInsideLink) return text
  return (
    <span className={classes.idWithCopy}>
      {text}
      <CopyButton value={value} timeout={2000}>
        {({ copied, copy }) => (
          <>
            <Tooltip label={copied ? words.common.copied : words.common.copy} withinPortal>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={24}
                onClick={copy}
                aria-label={`${words.common.copy} ${value}`}
              >
                {copied ? <CheckIcon /> : <CopyIcon />}
              </ActionIcon>
            </Tooltip>
            <VisuallyHidden role="status">{copied ? words.common.copied : ''}</VisuallyHidden>
          </>
        )}
      </CopyButton>
    </span>
  )
}
