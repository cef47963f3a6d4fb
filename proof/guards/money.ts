// Sabotages of docs/reports/reliability.md that concern orders, payments and credits.
import type { Sabotage } from './sabotage.ts'

const jobs = 'src/worker/jobs.ts'
const review = 'src/payments/recovery/review.ts'
const adapter = 'src/gateway/toss/adapter.ts'
const ledger = 'src/credits/ledger.sql.ts'
const holds = 'src/credits/holds/holds.sql.ts'
const finish = 'src/payments/operations/finish.sql.ts'

export const moneySabotages: Record<string, Sabotage> = {
  'no-recovery': {
    what: 'The worker does not recover.',
    changes: [
      {
        file: jobs,
        from: `{ name: 'recover', everyMs: 1_000, run: () => recover(context) },`,
        to: `{ name: 'recover', everyMs: 1_000, run: async () => ({ more: false }) },`,
      },
    ],
  },
  'silence-refuses': {
    what: 'Silence of the gateway counts as a refusal.',
    changes: [
      {
        file: adapter,
        from: `return { kind: 'unknown', code, ...serverError }\n}`,
        to: `return { kind: 'rejected', code, ...serverError }\n}`,
      },
    ],
  },
  'missing-payment-refuses': {
    what: 'A payment the lookup does not find counts as refused.',
    changes: [
      {
        file: 'src/payments/operations/run.ts',
        from: `if (found.kind === 'unsent' || (found.kind === 'absent' && mayStillBeCaptured(context, operation))) {`,
        to: `if (found.kind === 'unsent') {`,
      },
    ],
  },
  'every-cancel-succeeds': {
    what: "Every cancel after the background's gets a 200.",
    changes: [
      {
        file: 'src/payments/operations/lease.sql.ts',
        from: `\n    and (answered_by is null or answered_by = $3)`,
        to: ``,
      },
    ],
  },
  'cancel-without-credits': {
    what: 'A cancel does not need the credits of its order.',
    changes: [
      {
        file: 'src/payments/operations/begin.sql.ts',
        from: `when kind = 'CANCEL' then account.available >= credits_left
                 and refundable_credits(account.customer_id) >= credits_left`,
        to: `when kind = 'CANCEL' then true`,
      },
    ],
  },
  'held-spendable': {
    what: 'Held credits can be spent.',
    changes: [
      {
        file: ledger,
        from: `l.available >= 0\n               and not`,
        to: `l.available + case m.kind when 'SPEND' then s.held else 0 end >= 0\n               and not`,
      },
    ],
  },
  'dashboard-cancel-ignored': {
    what: 'A cancellation in the dashboard is ignored.',
    changes: [
      {
        file: review,
        from: `'partly returned': partlyCancelled, returned: 'refund' }`,
        to: `'partly returned': partlyCancelled, returned: 'agrees' }`,
      },
    ],
  },
  'partial-cancel-hidden': {
    what: 'A part cancelled in the dashboard is not shown.',
    changes: [
      {
        file: review,
        from: `'partly returned': partlyCancelled, returned: 'refund' }`,
        to: `'partly returned': 'agrees', returned: 'refund' }`,
      },
    ],
  },
  'idempotency-ignored': {
    what: 'The idempotency key of a purchase is ignored.',
    changes: [
      {
        file: 'src/payments/purchase.ts',
        from: `const order = { customerId, orderId, packageType, paymentMethod, amount, credits, idempotencyKey, maxPending }`,
        to: `const order = { customerId, orderId, packageType, paymentMethod, amount, credits, idempotencyKey: null, maxPending }`,
      },
    ],
  },
  'confirm-wrong-total': {
    what: 'A confirm answers a wrong total.',
    changes: [
      {
        file: 'src/payments/confirm.ts',
        from: `creditsAdded: finished.credits, totalCredits: finished.totalCredits, slip }`,
        to: `creditsAdded: finished.credits, totalCredits: finished.totalCredits + 1, slip }`,
      },
    ],
  },
  'status-cached': {
    what: 'Status is read from a cache.',
    changes: [
      {
        file: 'src/payments/orders.sql.ts',
        from: `    run: (inputs) => findOrders(database, inputs),`,
        to: `    run: ((known) => async (inputs) => {
      const found = await findOrders(database, inputs)
      return found.map((order, place) => {
        const { orderId } = inputs[place]
        if (order && !known.has(orderId)) known.set(orderId, order)
        return order && known.get(orderId)
      })
    })(new Map()),`,
      },
    ],
  },
  'orders-without-customer': {
    what: 'Orders are found without their customer.',
    changes: [
      {
        file: 'src/payments/orders.sql.ts',
        from: `select * from orders where customer_id = i.customer_id and order_id = i.order_id limit 1\n  ) o\n  left join lateral (`,
        to: `select * from orders where order_id = i.order_id limit 1\n  ) o\n  left join lateral (`,
      },
    ],
  },
  'process-clock-expires': {
    what: "The process's clock decides about expiry.",
    changes: [
      {
        file: 'src/payments/recovery/expire.sql.ts',
        from: `o.created_at < now() - $1::bigint * interval '1 ms'`,
        to: `o.created_at < to_timestamp($1::float8 / 1000)`,
      },
      {
        file: 'src/payments/recovery/expire.sql.ts',
        from: `group.run<OrderKey>(listDueOrdersStatement, [lifetimeMs, left])`,
        to: `group.run<OrderKey>(listDueOrdersStatement, [Date.now() - lifetimeMs, left])`,
      },
    ],
  },
  'hashes-not-chained': {
    what: "The ledger's hashes are not chained.",
    changes: [
      {
        file: ledger,
        from: `when j.adjusted_after is null then ledger_entry_hash(\n                  s.last_hash,`,
        to: `when j.adjusted_after is null then ledger_entry_hash(\n                  ''::bytea,`,
      },
    ],
  },
  'other-amount-succeeds': {
    what: 'Another amount under a reference gets a 200.',
    changes: [
      {
        file: 'src/credits/spend.ts',
        from: `if (spent !== credits) throw referenceRefusals.spentOtherCredits(spent)`,
        to: ``,
      },
    ],
  },
  'capture-takes-all': {
    what: 'A capture of a part takes all.',
    changes: [
      {
        file: holds,
        from: `case i.ending when 'CAPTURE' then coalesce(i.captured, h.credits) else 0 end as captured`,
        to: `case i.ending when 'CAPTURE' then h.credits else 0 end as captured`,
      },
    ],
  },
  'holds-expire-early': {
    what: 'Holds expire two seconds early.',
    changes: [
      {
        file: holds,
        from: `where state = 'ACTIVE' and expires_at <= now()\n`,
        to: `where state = 'ACTIVE' and expires_at <= now() + interval '2 seconds'\n`,
      },
      {
        file: holds,
        from: `(h.expires_at <= now()) = (i.ending = 'EXPIRE')`,
        to: `(h.expires_at <= now() + interval '2 seconds') = (i.ending = 'EXPIRE')`,
      },
    ],
  },
  'holds-never-expire': {
    what: 'Holds never expire.',
    changes: [
      {
        file: jobs,
        from: `run: () => expireHolds(database, tallies) }]`,
        to: `run: async () => ({ more: false }) }]`,
      },
    ],
  },
  'reference-not-read-again': {
    what: 'A spend is refused for lack of credits without reading its reference again.',
    outside: 'It needs two statements that wait for one account inside PostgreSQL.',
    changes: [
      {
        file: 'src/credits/spend.ts',
        from: `isRefused: ({ spent, available, usedFor, isRestricted }) =>
        spent === 0 && available !== null && usedFor === null && !isRestricted,`,
        to: `isRefused: () => false,`,
      },
    ],
  },
  'hold-wrong-balance': {
    what: 'A hold answers a wrong balance.',
    changes: [
      {
        file: 'src/credits/holds/holds.ts',
        from: `return { holdId, expiresAt: expiresAt.toISOString(), ...held }`,
        to: `return { holdId, expiresAt: expiresAt.toISOString(), ...held, balance: held.balance + 1 }`,
      },
    ],
  },
  'second-capture-succeeds': {
    what: 'A second, different capture is acknowledged.',
    changes: [
      {
        file: 'src/credits/holds/holds.ts',
        from: `if (hold.state === wantedState && hold.captured === wanted && !hold.isEndedByPart) return hold`,
        to: `if (hold.state === wantedState) return hold`,
      },
    ],
  },
  'finish-checks-nothing': {
    what: "Finish checks neither that the operation is open nor the order's state.",
    changes: [
      { file: finish, from: `where o.status = i.from_status\n`, to: `` },
      {
        file: finish,
        from: `where p.state = 'OPEN' and (not l.only_holder or p.holder_id = l.holder_id)`,
        to: `where not l.only_holder or p.holder_id = l.holder_id`,
      },
    ],
  },
  'failed-capture-kept': {
    what: 'Money captured for a FAILED order is kept.',
    changes: [
      {
        file: review,
        from: `FAILED: { none: 'agrees', kept: 'return', 'partly returned': 'return', returned: 'agrees' },`,
        to: `FAILED: { none: 'agrees', kept: 'agrees', 'partly returned': 'agrees', returned: 'agrees' },`,
      },
    ],
  },
}
