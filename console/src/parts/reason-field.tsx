// The reason for an action, in one line: line breaks of pasted text become blanks.
import { Textarea } from '@mantine/core'
import type { Ref } from 'react'
import { useWords } from '../words/words.tsx'

/** The same rule as in the service: one line of 3 to 200 characters. */
const acceptable = /^(?=.*\S)[^\p{Cc}\p{Cs}]{3,200}$/u

export function isAcceptableReason(reason: string): boolean {
  return acceptable.test(reason.trim())
}

type Props = {
  label?: string | undefined
  value: string
  onChange(reason: string): void
  /** After the first try to submit. */
  showsError: boolean
  /** If it is sent to others than the action log. */
  description?: string
  ref?: Ref<HTMLTextAreaElement>
}

export function ReasonField({ label, value, onChange, showsError, description, ref }: Props) {
  const { common } = useWords()
  return (
    <Textarea
      label={label ?? common.reason}
      description={description ?? common.reasonHint}
      error={showsError && !isAcceptableReason(value) ? common.reasonTooShort : null}
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
