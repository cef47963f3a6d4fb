// The search in the header: "/" focuses it from anywhere, Enter opens the only result or the page of results.
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

/** The page of a result, below /console. */
export function pathOfResult({ kind, orderId, customerId }: Found): string {
  if (orderId) return `/orders/${encodeURIComponent(orderId)}`
  return `/customers/${encodeURIComponent(customerId ?? '')}${kind === 'key' ? '?tab=keys' : ''}`
}

/** A complete API key or service token, with whatever was copied along with it. */
const completeKey = /c(?:pk|st)_[0-9A-Za-z]{43}/

/** Only the last four characters of a complete key are searched: URLs stay in the browser history. */
export function searchTextOf(text: string): string {
  return completeKey.exec(text)?.[0].slice(-4) ?? text.trim()
}

export function SearchBox() {
  const { common } = useWords()
  const queries = useQueryClient()
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useHotkeys([['/', focusUnlessDialog]])

  /** Not while a dialog is open. */
  function focusUnlessDialog(): void {
    if (!document.querySelector('[aria-modal="true"]')) field.current?.focus()
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const q = searchTextOf(text)
    if (q === '') return
    // A key does not stay visible.
    if (completeKey.test(text)) setText('')
    const input = { query: { q } }
    const found = await queries
      .fetchQuery({ queryKey: ['search', input], queryFn: () => call('search', input) })
      .catch(() => undefined)
    const only = found?.results.length === 1 ? found.results[0] : undefined
    field.current?.blur()
    go(only ? pathOfResult(only) : `/search?${new URLSearchParams({ q })}`)
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
