// Times, days and ages. Times are Korea's; a tooltip has UTC.
import { Text, Tooltip } from '@mantine/core'
import classes from './format.module.css'
import { useFormats } from './formats.ts'

export function Time({ at }: { at: string }) {
  const { korea, utc } = useFormats().time(at)
  return (
    <Tooltip label={utc} withinPortal>
      <time dateTime={at} className={classes.day}>
        {korea}
      </time>
    </Tooltip>
  )
}

/** A day in Korea, as 2026-01-31. */
export function Day({ day }: { day: string }) {
  return (
    <time dateTime={day} className={classes.day}>
      {useFormats().day(day)}
    </time>
  )
}

/** The time since then, by the clock of this device. */
export function AgeSince({ at }: { at: string }) {
  return <Age seconds={(Date.now() - Date.parse(at)) / 1_000} />
}

export function Age({ seconds }: { seconds: number }) {
  return (
    <Text span inherit className={classes.day}>
      {useFormats().age(seconds)}
    </Text>
  )
}
