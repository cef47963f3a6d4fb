// Sabotages that the report on the campaign does not have. Most need two things to happen at about the same time.
import type { Sabotage } from './sabotage.ts'

const holds = 'src/credits/holds/holds.sql.ts'
const reverse = 'src/credits/adjustments/reverse.sql.ts'
const adjust = 'src/credits/adjustments/adjust.sql.ts'

export const sabotagesBeyondCampaign: Record<string, Sabotage> = {
  'extension-shortens': {
    what: 'A later, shorter extension of a hold makes its expiry earlier.',
    changes: [
      {
        file: holds,
        from: `set expires_at = greatest(l.expires_at, l.extended_to),`,
        to: `set expires_at = l.extended_to,`,
      },
    ],
  },
  'reversal-beyond-the-spend': {
    what: 'A reversal gives back more than was spent.',
    changes: [{ file: reverse, from: `where wanted between 1 and credits_left`, to: `where wanted >= 1` }],
  },
  'reversal-by-another-service': {
    what: 'A service can reverse what another one has spent.',
    changes: [{ file: reverse, from: ` and spender.name = caller.name`, to: `` }],
  },
  'budget-not-given-back': {
    what: 'A hold that is released stays counted in its budget.',
    changes: [
      {
        file: holds,
        from: `\${lockAccountsOf('movement')},\${applyMovements},\${giveBackUsage}`,
        to: `\${lockAccountsOf('movement')},\${applyMovements}`,
      },
    ],
  },
  'hold-not-counted': {
    what: 'A hold is checked by its budgets and not counted in them.',
    changes: [
      {
        file: 'src/credits/budgets/restricted.sql.ts',
        from: `\${applyMovements},\${countUsage},\n  opened as (`,
        to: `\${applyMovements},\n  opened as (`,
      },
    ],
  },
  'own-approval': {
    what: 'The operator who requested an adjustment can approve it.',
    changes: [
      {
        file: 'src/credits/adjustments/adjust.ts',
        from: `request.state === 'PENDING' && requestedBy !== actor && isCovered(before, credits)`,
        to: `request.state === 'PENDING' && isCovered(before, credits)`,
      },
      {
        file: adjust,
        from: `and state = 'PENDING' and requested_by <> $3\n`,
        to: `and state = 'PENDING' and $3 <> ''\n`,
      },
    ],
  },
  'day-limit-ignored': {
    what: 'The limit of an operator for a day holds for each adjustment only.',
    changes: [
      {
        file: adjust,
        from: `where $3::text <> all (d.charges) and d.credits + excluded.credits <= $4::bigint`,
        to: `where $3::text <> all (d.charges)`,
      },
    ],
  },
  'returned-capture-granted': {
    what: 'A payment that was cancelled in the dashboard before its confirm was settled is granted.',
    changes: [
      {
        file: 'src/gateway/toss/adapter.ts',
        from: `return { kind: 'rejected', code: payment.status, returned: true }`,
        to: `return { kind: 'approved', ...captureOf(payment) }`,
      },
    ],
  },
  'confirm-joins-any-key': {
    what: 'A confirm with another payment key shares the answer of the one under way.',
    changes: [
      {
        file: 'src/payments/confirm.ts',
        from: `const same = running.paymentKey === request.paymentKey`,
        to: `const same = true`,
      },
    ],
  },
  'queue-forgets-while-busy': {
    what: 'An event that is written while others of its customer wait is not queued.',
    changes: [
      {
        file: 'src/events/outbox.sql.ts',
        from: `last_event = excluded.last_event`,
        to: `last_event = case when q.next_event > q.last_event then excluded.last_event else q.last_event end`,
      },
    ],
  },
  'quote-ignores-movements': {
    what: 'A refund of the unused part does not notice credits that moved since it was computed.',
    changes: [
      {
        file: 'src/payments/operations/begin.sql.ts',
        from: `\n      and coalesce(account.last_entry = at_entry, true)`,
        to: ``,
      },
    ],
  },
  'abandoned-while-sent': {
    what: 'A cancel ends a confirm as never sent while the confirm is on its way.',
    changes: [
      {
        file: 'src/payments/operations/run.ts',
        from: `const isLastSendOver = operation.sentAgoMs >= context.settings.operationLeaseMs`,
        to: `const isLastSendOver = true`,
      },
    ],
  },
}
