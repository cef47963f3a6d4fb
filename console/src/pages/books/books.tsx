// The books: what the gateway moved beside what our books say, day by day, the comparisons that were made, what a person has
// to decide, and the audits. Which tab is open is in the address.
import { Tabs } from '@mantine/core'
import { useMay } from '../../api/hooks.ts'
import { useQueryState } from '../../parts/query-state.ts'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { Audits } from './audits.tsx'
import { Days } from './days.tsx'
import { Discrepancies } from './discrepancies.tsx'
import { Exports } from './exports.tsx'
import { NewKeyCancels } from './new-key-cancels.tsx'
import { Runs } from './runs.tsx'

const tabs = {
  days: Days,
  runs: Runs,
  discrepancies: Discrepancies,
  newKeyCancels: NewKeyCancels,
  audits: Audits,
  exports: Exports,
}
type Tab = keyof typeof tabs
const names = Object.keys(tabs) as Tab[]
const ofRefunders: Tab[] = ['newKeyCancels']

export function BooksPage() {
  const { books } = useWords()
  const mayRefund = useMay('refund')
  const shown = names.filter((name) => mayRefund || !ofRefunders.includes(name))
  const [tab, setTab] = useQueryState<Tab>('tab', shown, 'days')
  const Panel = tabs[tab]
  return (
    <>
      <PageHeader title={books.title} />
      <Tabs value={tab} onChange={(next) => setTab(next as Tab)} keepMounted={false}>
        <Tabs.List mb="md">
          {shown.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {books.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <Panel />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
