// The button that was pressed may be gone with what it did: the keyboard goes on from the part of the page it stood in.
import { type RefObject, useRef } from 'react'

/** After a dialog has tried to give the focus back. */
export const focusAfterMs = 50

/** The frame is an element that can be focused, with a name. */
export function useKeptFocus(): { frame: RefObject<HTMLDivElement | null>; keepFocus(): void } {
  const frame = useRef<HTMLDivElement>(null)
  function keepFocus(): void {
    window.setTimeout(() => {
      if (document.activeElement === document.body) frame.current?.focus()
    }, focusAfterMs)
  }
  return { frame, keepFocus }
}
