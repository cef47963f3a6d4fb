// A number with its label.
import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './parts.module.css'

export function Figure({ label, value, hint }: { label: string; value: ReactNode; hint?: ReactNode }) {
  return (
    <Paper withBorder p="sm" component="dl" className={classes.figure}>
      <Text component="dt" size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="dd" fz="xl" fw={600} className={classes.figureValue}>
        {value}
      </Text>
      {hint && (
        <Text component="dd" size="xs" c="dimmed" m={0}>
          {hint}
        </Text>
      )}
    </Paper>
  )
}
