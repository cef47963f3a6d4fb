// Commands about the books: are they right by themselves, do they agree with the gateway, what is open.
import { uuidPattern } from '../core/ids.ts'
import { audit } from '../payments/audit.ts'
import { listOpenDiscrepancies, resolveDiscrepancies } from '../payments/discrepancy-sql.ts'
import { reconcile } from '../payments/reconcile.ts'
import { type Command, needsNothing, needsOne, reasonPattern, type Values } from './command.ts'
import { dateFormat, readTime } from './times.ts'

const listLimit = 1_000

const needsDiscrepancy = needsOne('ID', ' (see: discrepancies list)')

const readSpan = ({ from, to }: Values) => ({ from: readTime(from, '00:00:00'), to: readTime(to, '23:59:59') })

export const bookCommands: Command[] = [
  {
    name: 'audit',
    takes: '',
    does: 'Checks every rule the books must keep, beside running traffic. Exit code 1 when one is broken.',
    changes: false,
    check: needsNothing,
    run: ({ database, onProgress }) =>
      audit(database, { onProgress: (done, total) => onProgress('rows', done, total) }),
    failed: (result) => !(result as { ok: boolean }).ok,
  },
  {
    name: 'reconcile',
    takes: '--from DATE --to DATE',
    does: `Compares the gateway's transactions with the books, both ways, and repairs what is certain.`,
    changes: true,
    check: ({ positionals, values }) => {
      const fault = needsNothing({ positionals })
      if (fault) return fault
      const { from, to } = readSpan(values)
      if (!from || !to) return `--from DATE and --to DATE are needed, as ${dateFormat}`
      if (from >= to) return '--to must be after --from'
    },
    async run({ payments, values, onProgress }) {
      const { from, to } = readSpan(values)
      if (!from || !to) throw new Error('no dates')
      return reconcile(await payments(), { from, to }, onProgress)
    },
    failed: (result) => {
      const { reviewed } = result as { reviewed: Record<string, number> }
      return (reviewed.disagrees ?? 0) > 0 || (reviewed.unknown ?? 0) > 0
    },
  },
  {
    name: 'discrepancies list',
    takes: '',
    does: `Lists what a person has to look at, oldest first, ${listLimit} at most.`,
    changes: false,
    check: needsNothing,
    run: ({ database }) => listOpenDiscrepancies(database, listLimit),
  },
  {
    name: 'discrepancies resolve',
    takes: 'ID --reason TEXT',
    does: 'Closes a discrepancy with what was found out about it.',
    changes: true,
    check: (words) => {
      const fault = needsDiscrepancy(words)
      if (fault) return fault
      if (!uuidPattern.test(words.positionals[0] ?? '')) return 'ID is the discrepancyId of: discrepancies list'
      if (!reasonPattern.test(words.values.reason ?? '')) return '--reason TEXT is needed, 1 to 200 characters'
    },
    async run({ database, positionals: [id = ''], values }) {
      const resolution = values.reason?.trim() ?? ''
      const [kind] = await resolveDiscrepancies(database, [id], resolution)
      if (!kind) throw new Error(`There is no open discrepancy ${id}.`)
      return { discrepancyId: id, kind, resolution }
    },
  },
]
