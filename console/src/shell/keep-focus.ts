// After an action its button may be gone: the focus moves to the section that contained it.
import { type RefObject, useRef } from 'react'

/** After a closing dialog has tried to restore the focus. */
export const focusAfterMs = 50

/** The frame is a focusable element with a label. */
export function useKeptFocus(): { frame: RefObject<HTMLDivElement | null>; keepFocus(): void } {
  const frame = useRef<HTMLDivElement>(null)
  function keepFocus(): void {
    window.setTimeout(() => {
      if (document.activeElement === document.body) frame.current?.focus()
    }, focusAfterMs)
  }
  return { frame, keepFocus }
}
