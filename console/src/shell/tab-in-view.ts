// The list of tabs scrolls on a narrow screen: the chosen tab is scrolled into view.
import { type RefObject, useEffect, useRef } from 'react'

/** For the list of the tabs. */
export function useTabInView(chosen: string): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>('[aria-selected="true"]')
    if (list.current && tab) list.current.scrollLeft = tab.offsetLeft - list.current.offsetLeft - tab.offsetWidth / 2
  }, [chosen])
  return list
}
