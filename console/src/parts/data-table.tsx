// A list as a table. The arrow keys, Home and End move between rows. A row with a link has it in its first cell; Enter or a click
// anywhere on the row follows it. On a narrow screen a row becomes a card; columns say where they stand in it. The table shows when
// it is empty, loading or failed, and loads more on demand.
import { Anchor, Button, Group, Skeleton, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Pages } from '../api/hooks.ts'
import { useFormats } from '../format/formats.ts'
import { InsideLink } from '../format/id.tsx'
import { DownIcon, SortIcon, UpIcon } from '../shell/icons.tsx'
import { useWords } from '../words/words.tsx'
import classes from './data-table.module.css'
import { Problem } from './problem.tsx'
import type { Sort } from './sort.ts'

/**
 * Where a column stands on a narrow screen: title, badge and amount make the first line, lines without labels the second one, and
 * folded columns are shown by a button. Without a place: a line with its label.
 */
type Place = 'title' | 'badge' | 'amount' | 'line' | 'folded'

export type Column<Row> = {
  header: string
  align?: 'right' | 'center'
  place?: Place
  /** The header is a button that sorts the list. */
  sort?: Sort
  cell(row: Row): ReactNode
}

export type DataTableProps<Row> = {
  /** For screen readers. */
  caption: string
  columns: Column<Row>[]
  rows: Row[]
  keyOf(row: Row): string
  /** The page of a row, below /console. Null: it has none. */
  linkOf?(row: Row): string | null
  /** For a list with pagination. */
  pages?: Pages<Row>
  isLoading?: boolean
  error?: Error | null
  empty?: ReactNode
}

const sortIcons = { ascending: <UpIcon />, descending: <DownIcon />, none: <SortIcon /> }
const skeletonRows = ['a', 'b', 'c', 'd', 'e']
const steps: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_at, last) => last,
}
const ownKeys = 'button, input, select, textarea, summary, [role="menuitem"]'

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, keyOf, linkOf, pages, empty } = props
  const [isLoading, error] = [props.isLoading ?? pages?.isLoading ?? false, props.error ?? pages?.error ?? null]
  const words = useWords()
  const { number } = useFormats()
  const [, go] = useLocation()
  const [current, setCurrent] = useState(0)
  const [unfolded, setUnfolded] = useState<string | null>(null)
  const isFolding = columns.some(({ place }) => place === 'folded')
  const firstShown = columns.findIndex(({ place }) => place !== 'folded')
  const body = useRef<HTMLTableSectionElement>(null)
  const hintId = useId()
  const reachable = Math.min(current, rows.length - 1)
  const firstNew = useRef<number | null>(null)
  const stopsOf = () => [...(body.current?.querySelectorAll<HTMLElement>('[data-stop]') ?? [])]

  // The button is disabled while loading and gone after the last page: the focus moves to the first new row.
  useEffect(() => {
    if (firstNew.current === null || pages?.isLoadingMore || rows.length <= firstNew.current) return
    if (document.activeElement === document.body) stopsOf()[firstNew.current]?.focus()
    firstNew.current = null
  })

  function more(): void {
    firstNew.current = rows.length
    pages?.more()
  }

  function walk(event: KeyboardEvent): void {
    const step = steps[event.key]
    const target = event.target as HTMLElement
    if (!step || event.altKey || event.ctrlKey || event.metaKey || target.closest(ownKeys)) return
    const stops = stopsOf()
    const at = stops.findIndex((stop) => stop === target || stop.contains(target))
    if (at === -1) return
    event.preventDefault()
    stops[step(at, stops.length - 1)]?.focus()
  }

  /** A click anywhere on a row, unless it ends a text selection. */
  function follow(event: MouseEvent, link: string): void {
    const target = event.target as HTMLElement
    if (target.closest(`a, ${ownKeys}`) || window.getSelection()?.toString()) return
    if (event.ctrlKey || event.metaKey) window.open(`/console${link}`, '_blank', 'noopener')
    else go(link)
  }

  function rowOf(row: Row, index: number): ReactNode {
    const link = linkOf?.(row) ?? null
    const stop = { 'data-stop': true, tabIndex: index === reachable ? 0 : -1, onFocus: () => setCurrent(index) }
    return (
      <Table.Tr
        key={keyOf(row)}
        role="row"
        className={classes.row}
        data-unfolded={unfolded === keyOf(row) || undefined}
        {...(link ? { 'data-link': true, onClick: (event: MouseEvent) => follow(event, link) } : stop)}
      >
        {columns.map(({ header, align, place, cell }, at) => (
          <Table.Td key={header} role="cell" data-label={header} data-place={place} data-align={align}>
            {link && at === 0 ? (
              <Anchor component={Link} href={link} inherit {...stop}>
                <InsideLink value={true}>{cell(row)}</InsideLink>
              </Anchor>
            ) : (
              cell(row)
            )}
            {isFolding && at === firstShown && foldOf(keyOf(row))}
          </Table.Td>
        ))}
      </Table.Tr>
    )
  }

  /** Only on a narrow screen. */
  function foldOf(key: string): ReactNode {
    const isUnfolded = unfolded === key
    return (
      <UnstyledButton
        className={classes.fold}
        aria-expanded={isUnfolded}
        aria-label={words.common.details}
        onClick={() => setUnfolded(isUnfolded ? null : key)}
      >
        {isUnfolded ? <UpIcon /> : <DownIcon />}
      </UnstyledButton>
    )
  }

  if (error && rows.length === 0) return <Problem error={error} />
  return (
    <div className={classes.frame}>
      <Table role="table" className={classes.table} verticalSpacing={6} aria-describedby={hintId} aria-busy={isLoading}>
        <Table.Caption className={classes.caption}>
          <VisuallyHidden>{caption}</VisuallyHidden>
        </Table.Caption>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map(({ header, align, sort }) => (
              <Table.Th key={header} role="columnheader" scope="col" data-align={align} aria-sort={sort?.order}>
                {sort ? (
                  <UnstyledButton className={classes.sort} onClick={sort.choose} title={words.common.sortBy(header)}>
                    {header}
                    {sortIcons[sort.order]}
                  </UnstyledButton>
                ) : (
                  header || <VisuallyHidden>{caption}</VisuallyHidden>
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup" ref={body} onKeyDown={walk}>
          {isLoading
            ? skeletonRows.map((each) => (
                <Table.Tr key={each} role="row">
                  {columns.map(({ header, place }) => (
                    <Table.Td key={header} role="cell" data-label={header} data-place={place}>
                      <Skeleton height={12} my={6} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))
            : rows.map(rowOf)}
        </Table.Tbody>
      </Table>
      {!isLoading && rows.length === 0 && (
        <Text c="dimmed" size="sm" ta="center" p="lg" component="div">
          {empty ?? words.common.nothingHere}
        </Text>
      )}
      <VisuallyHidden id={hintId}>{linkOf ? words.common.rowKeys : words.common.tableKeys}</VisuallyHidden>
      {error && rows.length > 0 && <Problem error={error} />}
      {pages && (rows.length > 0 || pages.hasMore) && (
        <Group justify="space-between" p="xs" className={classes.foot}>
          <Text size="xs" c="dimmed" role="status">
            {(pages.hasMore ? words.common.someShown : words.common.allShown)(number(rows.length))}
          </Text>
          {pages.hasMore && (
            <Button size="xs" variant="default" onClick={more} loading={pages.isLoadingMore}>
              {words.common.more}
            </Button>
          )}
        </Group>
      )}
    </div>
  )
}
