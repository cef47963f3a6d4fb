// The reason for an action, in one line: whatever breaks a line where it was copied from is a blank here.
import { Textarea } from '@mantine/core'
import type { Ref } from 'react'
import { useWords } from '../words/words.tsx'

/** As the service has it: one line of 3 to 200 characters. */
const acceptable = /^(?=.*\S)[^\p{Cc}\p{Cs}]{3,200}$/u

export function isAcceptableReason(reason: string): boolean {
  return acceptable.test(reason.trim())
}

type Props = {
  value: string
  onChange(reason: string): void
  /** Somebody has tried to go on: now it says what is missing. */
  isTold: boolean
  /** Who reads it, where that is more than the trail. */
  description?: string
  ref?: Ref<HTMLTextAreaElement>
}

export function ReasonField({ value, onChange, isTold, description, ref }: Props) {
  const { common } = useWords()
  return (
    <Textarea
      label={common.reason}
      description={description ?? common.reasonHint}
      error={isTold && !isAcceptableReason(value) ? common.reasonTooShort : null}
      errorProps={{ role: 'alert' }}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value.replace(/\p{Cc}+/gu, ' '))}
      maxLength={200}
      autosize
      minRows={2}
      required
      data-autofocus
      ref={ref}
    />
  )
}
