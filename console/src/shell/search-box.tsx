// The search in the header: "/" goes to it from anywhere, Enter opens the only thing found or the page of what was found.
import { Kbd, TextInput } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { call, type Data } from '../api/client.ts'
import { useWords } from '../words/words.tsx'
import { SearchIcon } from './icons.tsx'
import classes from './shell.module.css'

type Found = Data<'search'>['results'][number]

/** Where something found leads, below /console. */
export function addressOfFound({ kind, orderId, customerId }: Found): string {
  if (orderId) return `/orders/${encodeURIComponent(orderId)}`
  return `/customers/${encodeURIComponent(customerId ?? '')}${kind === 'key' ? '?tab=keys' : ''}`
}

/** A whole key of a customer or of a service, whatever was copied along with it. */
const wholeKey = /c(?:pk|st)_[0-9A-Za-z]{43}/

/** Of a whole key only the end is asked for: an address stays in histories. */
export function askedOf(text: string): string {
  return wholeKey.exec(text)?.[0].slice(-4) ?? text.trim()
}

export function SearchBox() {
  const { common } = useWords()
  const queries = useQueryClient()
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useHotkeys([['/', focusUnlessAsked]])

  /** A dialog wants its answer first. */
  function focusUnlessAsked(): void {
    if (!document.querySelector('[aria-modal="true"]')) field.current?.focus()
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const q = askedOf(text)
    if (q === '') return
    // A key does not stay where others can read it.
    if (wholeKey.test(text)) setText('')
    const input = { query: { q } }
    const found = await queries
      .fetchQuery({ queryKey: ['search', input], queryFn: () => call('search', input) })
      .catch(() => undefined)
    const only = found?.results.length === 1 ? found.results[0] : undefined
    field.current?.blur()
    go(only ? addressOfFound(only) : `/search?${new URLSearchParams({ q })}`)
  }

  return (
    <search className={classes.search}>
      <form onSubmit={submit}>
        <TextInput
          ref={field}
          type="search"
          aria-label={common.search}
          placeholder={common.searchHint}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maxLength={200}
          autoComplete="off"
          leftSection={<SearchIcon />}
          rightSection={
            <Kbd size="xs" visibleFrom="sm">
              /
            </Kbd>
          }
          rightSectionPointerEvents="none"
          classNames={{ input: classes.searchField }}
        />
      </form>
    </search>
  )
}
