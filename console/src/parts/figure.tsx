// A number with its label. With an address it is a link to the list behind the number.
import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import classes from './parts.module.css'

type Props = {
  label: string
  value: ReactNode
  hint?: ReactNode
  /** Below /console. */
  href?: string
}

export function Figure({ label, value, hint, href }: Props) {
  const content = (
    <dl className={classes.figureContent}>
      <Text component="dt" size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="dd" fw={600} className={classes.figureValue}>
        {value}
      </Text>
      {hint && (
        <Text component="dd" size="xs" c="dimmed" m={0}>
          {hint}
        </Text>
      )}
    </dl>
  )
  const look = { withBorder: true, p: 'sm', className: classes.figure }
  return href === undefined ? (
    <Paper {...look}>{content}</Paper>
  ) : (
    <Paper {...look} component={Link} href={href} data-link>
      {content}
    </Paper>
  )
}
