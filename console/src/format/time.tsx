// Times, days and ages: Korea's time first, UTC beside it.
import { Text } from '@mantine/core'
import classes from './format.module.css'
import { useFormats } from './formats.ts'

/** `inline`: on one line. */
export function Time({ at, inline = false }: { at: string; inline?: boolean }) {
  const { korea, utc } = useFormats().time(at)
  return (
    <time dateTime={at} className={inline ? classes.inlineTime : classes.time}>
      <span>{korea}</span>
      <span className={classes.utc}>{utc}</span>
    </time>
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
