// The reconciliation page: days, runs, discrepancies, payments, cancels with new keys, audits, the transparency log and
// exports. The tab is in the URL.
import { Tabs } from '@mantine/core'
import { useMay } from '../../api/hooks.ts'
import { useQueryState } from '../../parts/query-state.ts'
import { PageHeader } from '../../shell/page-header.tsx'
import { useTabInView } from '../../shell/tab-in-view.ts'
import { useWords } from '../../words/words.tsx'
import { Audits } from './audits/audits.tsx'
import { Days } from './days.tsx'
import { Discrepancies } from './discrepancies.tsx'
import { Exports } from './exports.tsx'
import { NewKeyCancels } from './new-key-cancels.tsx'
import { Payments } from './payments.tsx'
import { Runs } from './runs/runs.tsx'
import { TransparencyLog } from './transparency-log.tsx'

const tabs = {
  days: Days,
  runs: Runs,
  discrepancies: Discrepancies,
  payments: Payments,
  newKeyCancels: NewKeyCancels,
  audits: Audits,
  log: TransparencyLog,
  exports: Exports,
}
type Tab = keyof typeof tabs
const names = Object.keys(tabs) as Tab[]
const needRefund: Tab[] = ['newKeyCancels']

export function BooksPage() {
  const { books } = useWords()
  const mayRefund = useMay('refund')
  const shown = names.filter((name) => mayRefund || !needRefund.includes(name))
  const [tab, setTab] = useQueryState<Tab>('tab', shown, 'days')
  const tabList = useTabInView(tab)
  const Panel = tabs[tab]
  return (
    <>
      <PageHeader title={books.title} tab={`${books.tabs[tab]} · ${books.title}`} />
      <Tabs value={tab} onChange={(next) => setTab(next as Tab)} keepMounted={false}>
        <Tabs.List mb="md" ref={tabList}>
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
