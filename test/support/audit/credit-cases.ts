// Books that break one rule of the audit about accounts, entries, holds, adjustments and events each.
import type { Books } from '../database/books.ts'
import {
  account,
  addEntry,
  type BrokenRule,
  byKind,
  entryOfOperation,
  eventMatchesOrder,
  eventOfEntry,
  guardsDown,
  holdOf,
  namesEntry,
  rewritten,
  withoutOperation,
} from './damage.ts'
import { rewriteHashes, rewriteLedgers } from './rewrite-ledgers.ts'

const [, entryOfOperationRule = ''] = /^I-11 (.*)$/.exec(entryOfOperation) ?? []
const [, byKindRule = ''] = /^I-20 (.*)$/.exec(byKind) ?? []

const heldByOpen = 'what is held is what open operations and active holds have set aside'
const leftOfIt = 'what is held is what the last entry of the ledger left of it'
const lastHash = 'the account knows the hash of its last entry'
const lastNumber = 'the account knows the number of its last entry'
const balances = 'each balance is the one before it plus the credits of the entry'
const heldChain = 'what is held after an entry is what was held before it and what the entry sets aside or gives back'
const covered = 'what was held was covered by the balance at any time'
const hashed = 'no entry has been changed: its hash is that of the entry and of the hash before it'
const entryOfHold = 'an entry of a hold is the one that the hold names'
const begins = 'a hold begins with the entry that sets its credits aside for its service'
const capturedByEntries = 'what was captured of a hold, in parts and at its end, is what its entries took'
const ends = 'a hold ends by one later entry, of the kind that its state says, and an active one has not ended'

const queueReaches = 'an endpoint that wants the last event of a customer has a queue that reaches it'

/** An endpoint older than the books, in the journal, with a queue for each customer. */
const oldEndpoint = (lastEvent: string, types = '{}') => `
  set local session_replication_role = origin;
  insert into event_endpoints (endpoint_id, url, types, secrets, created_at)
  values ('end_old', 'https://consumer.example', '${types}', '[{}]', now() - interval '2 days');
  set local session_replication_role = replica;
  insert into event_queues (customer_id, endpoint_id, next_event, last_event)
  select customer_id, 'end_old', 1, ${lastEvent} from accounts where last_event > 1`

const brokenAccounts: BrokenRule[] = [
  {
    invariant: 'I-1',
    rule: 'every account belongs to a customer',
    when: 'the row of a customer was deleted',
    damage: ({ customer }) => `delete from customers where customer_id = '${customer}'`,
    also: ['J-2 no record of the journal has been removed'],
  },
  {
    invariant: 'I-17',
    rule: queueReaches,
    when: 'the queue of a customer was deleted',
    damage: ({ customer }) =>
      `${oldEndpoint('last_event')}; delete from event_queues where customer_id = '${customer}'`,
  },
  {
    invariant: 'I-17',
    rule: queueReaches,
    when: 'the end of a queue was set back',
    damage: () => oldEndpoint('last_event - 1'),
  },
  {
    invariant: 'I-1',
    rule: 'the balance is what the last entry of the ledger left',
    when: 'a balance was raised by hand',
    damage: account('balance = balance + 1'),
  },
  {
    invariant: 'I-2',
    rule: 'nothing is negative, what is held is covered, and JSON can tell the balance exactly',
    when: 'more is held than the balance',
    damage: (books) =>
      `alter table accounts drop constraint accounts_held_is_covered; ${account('held = balance + 1')(books)}`,
    also: [`I-11 ${heldByOpen}`, `I-11 ${leftOfIt}`, guardsDown],
  },
  {
    invariant: 'I-3',
    rule: lastNumber,
    when: 'the account has another number',
    damage: account('last_entry = last_entry + 1'),
  },
  {
    invariant: 'I-3',
    rule: 'the account has not forgotten the time of its last entry',
    when: 'the account states that nothing has moved yet',
    damage: account(`moved_at = '-infinity'`),
  },
  {
    invariant: 'I-15',
    rule: lastHash,
    when: 'the account has another hash',
    damage: account(`last_hash = sha256('')`),
  },
  {
    invariant: 'I-15',
    rule: lastHash,
    when: 'the last entry was removed',
    damage: ({ customer }) => `delete from ledger_entries e using accounts a where a.customer_id = '${customer}'
      and e.customer_id = a.customer_id and e.entry_number = a.last_entry`,
    also: [`I-3 ${lastNumber}`, `I-11 ${leftOfIt}`],
  },
  {
    invariant: 'I-11',
    rule: heldByOpen,
    when: 'credits are held for no operation and no hold',
    damage: account('held = held + 1'),
    also: [`I-11 ${leftOfIt}`],
  },
  {
    invariant: 'I-11',
    rule: heldByOpen,
    when: 'an open cancel was deleted and its credits are still held',
    damage: withoutOperation('cancelling', 'CANCEL'),
    also: [entryOfOperation],
  },
  {
    invariant: 'I-11',
    rule: heldByOpen,
    when: 'an active hold was deleted and its credits are still held',
    damage: ({ held }) => `delete from holds where hold_id = '${held}'`,
    also: [`I-11 ${entryOfHold}`],
  },
  {
    invariant: 'I-11',
    rule: leftOfIt,
    when: 'a hold was made larger by hand, and the account with it',
    damage: (books) => `${holdOf('held', 'credits = credits + 1')(books)}; ${account('held = held + 1')(books)}`,
    also: [`I-11 ${begins}`],
  },
  {
    invariant: 'I-17',
    rule: 'the account knows the number of its last event',
    when: 'the account has another number',
    damage: account('last_event = last_event + 1'),
  },
  ...[
    ['an endpoint waits for an event that does not exist', '1, last_event + 1'],
    ['an endpoint is past the end of its queue', 'last_event + 1, last_event - 1'],
  ].map(([when = '', places]) => ({
    invariant: 'I-17',
    rule: 'no queue of events is past its end, and no end past the last event',
    when,
    damage: ({ customer }: { customer: string }) => `
      alter table event_queues drop constraint event_queues_next_is_within;
      insert into event_queues (customer_id, endpoint_id, next_event, last_event)
      select customer_id, 'an endpoint', ${places} from accounts where customer_id = '${customer}'`,
    also: [guardsDown],
  })),
]

const brokenBudgets: BrokenRule[] = [
  {
    invariant: 'B-1',
    rule: 'an account is marked as restricted when its customer has a budget or is suspended, and only then',
    when: 'the mark of a customer with budgets was removed',
    damage: ({ limited }) => `update accounts set restricted_at = null where customer_id = '${limited}'`,
  },
  {
    invariant: 'B-1',
    rule: 'an account is marked as restricted when its customer has a budget or is suspended, and only then',
    when: 'a customer without budgets was marked',
    damage: account('restricted_at = now()'),
  },
  {
    invariant: 'B-2',
    rule: 'what is used of a budget is not negative, and is of a key or user only where each has the limit for itself',
    when: 'the usage of a customer has the name of a user',
    damage: () => `update budget_usage set value = 'bob' where value = ''`,
  },
  {
    invariant: 'B-2',
    rule: 'what is used of a budget is of a period that has begun',
    when: 'the period begins in the middle of one',
    damage: () => `update budget_usage set period_start = period_start + interval '1 minute'`,
  },
  {
    invariant: 'B-2',
    rule: 'a hold is counted in budgets of its customer and of all customers',
    when: 'a hold of another customer has its counts',
    damage: ({ held, counted }) => `update holds set charged = (select charged from holds where hold_id = '${counted}')
      where hold_id = '${held}'`,
  },
]

const brokenEntries: BrokenRule[] = [
  {
    invariant: 'I-1',
    rule: 'every ledger belongs to an account',
    when: 'an account was deleted',
    damage: ({ customer }) => `delete from accounts where customer_id = '${customer}'`,
    also: ['I-1 every order belongs to an account'],
  },
  {
    invariant: 'I-3',
    rule: 'the entries of a customer are numbered from one without a gap',
    when: 'an entry was deleted, and after the gap nothing else',
    damage: () => `delete from ledger_entries where reference = 'second'`,
  },
  {
    invariant: 'I-3',
    rule: balances,
    when: 'a balance in the middle was changed, and the hashes with it',
    damage: () =>
      `update ledger_entries set balance_after = balance_after + 1 where reference = 'second'; ${rewriteHashes}`,
  },
  {
    invariant: 'I-3',
    rule: heldChain,
    when: 'the held credits in the middle were changed, and the hashes with them',
    damage: () => `update ledger_entries set held_after = held_after + 1 where reference = 'second'; ${rewriteHashes}`,
  },
  {
    invariant: 'I-3',
    rule: heldChain,
    when: 'the first entry begins with held credits',
    damage: ({ customer }) => `update ledger_entries set held_after = 1
      where customer_id = '${customer}' and entry_number = 1; ${rewriteHashes}`,
    also: rewritten,
  },
  {
    invariant: 'I-3',
    rule: heldChain,
    when: 'an entry has no held credits, after one that had them',
    damage: () => `update ledger_entries set (held_delta, held_after, service_id) = (null, null, null)
      where reference = 'second'; ${rewriteHashes}`,
  },
  {
    invariant: 'I-3',
    rule: 'the time of an entry is not before that of the one before it',
    when: 'it is',
    damage: () => `update ledger_entries set created_at = created_at - interval '5 minutes' where reference = 'second';
      ${rewriteHashes}`,
  },
  {
    invariant: 'I-15',
    rule: hashed,
    when: 'a reference was changed',
    damage: () => `update ledger_entries set reference = 'other' where reference = 'second'`,
  },
  {
    invariant: 'I-15',
    rule: hashed,
    when: 'a spend was attributed to another service',
    damage: () => `update ledger_entries set service_id = 'svc_other' where reference = 'second'`,
  },
  {
    invariant: 'I-2',
    rule: 'no balance has ever been negative',
    when: 'a balance in the middle is negative',
    damage: () => `alter table ledger_entries drop constraint ledger_entries_rules;
      update ledger_entries set balance_after = -1 where reference = 'second'; ${rewriteHashes}`,
    also: [`I-2 ${covered}`, `I-3 ${balances}`, guardsDown],
  },
  {
    invariant: 'I-2',
    rule: covered,
    when: 'held credits in the middle exceed the balance',
    damage: () => `alter table ledger_entries drop constraint ledger_entries_rules;
      update ledger_entries set held_after = balance_after + 1 where reference = 'second'; ${rewriteHashes}`,
    also: [`I-3 ${heldChain}`, guardsDown],
  },
  {
    invariant: 'I-20',
    rule: byKindRule,
    when: 'a spend added credits',
    damage: () => `alter table ledger_entries drop constraint ledger_entries_rules;
      update ledger_entries set delta = -delta where reference = 'second'; ${rewriteLedgers}`,
    also: [...rewritten, guardsDown],
  },
  {
    invariant: 'I-20',
    rule: byKindRule,
    when: 'a capture has no service',
    damage: () => `alter table ledger_entries drop constraint ledger_entries_rules;
      update ledger_entries set service_id = null where kind = 'CAPTURE'; ${rewriteHashes}`,
    also: [guardsDown],
  },
  {
    invariant: 'I-20',
    rule: byKindRule,
    when: 'a rollback does not name its hold',
    damage: () => `update ledger_entries set hold_id = null where kind = 'ROLLBACK'; ${rewriteHashes}`,
  },
  {
    invariant: 'I-15',
    rule: 'an entry names a hold or a service only where its hash covers them',
    when: 'an entry that looks old names a service',
    damage: ({ customer }) => `alter table ledger_entries drop constraint ledger_entries_rules;
      update ledger_entries
      set (held_delta, held_after, service_id) = (null, null, case kind when 'SPEND' then 'svc_other' end)
      where customer_id = '${customer}' and entry_number <= 2; ${rewriteHashes}`,
    also: [eventOfEntry, guardsDown],
  },
  {
    invariant: 'I-8',
    rule: namesEntry.slice('I-8 '.length),
    when: 'credits were granted for an order that does not exist',
    damage: (books) => addEntry(books, { kind: 'GRANT', delta: 21, order: 'ord_of_nobody' }),
  },
  {
    invariant: 'I-8',
    rule: namesEntry.slice('I-8 '.length),
    when: 'the entry of an accepted part is about another order',
    damage: ({ parted }) => `update ledger_entries set order_id = 'ord_of_nobody'
      where order_id = '${parted}' and kind = 'REFUND'; ${rewriteHashes}`,
    also: [entryOfOperation, 'I-12 the credits of an accepted part were taken by its entry'],
  },
  {
    invariant: 'I-8',
    rule: 'no reference is used twice',
    when: 'one is',
    damage: (books) =>
      `drop index ledger_entries_once_per_reference; ${addEntry(books, { kind: 'SPEND', delta: -1, reference: 'first' })}`,
    also: [guardsDown],
  },
  {
    invariant: 'I-11',
    rule: entryOfHold,
    when: 'a released hold was deleted',
    damage: ({ released }) => `delete from holds where hold_id = '${released}'`,
  },
  {
    invariant: 'I-11',
    rule: entryOfOperationRule,
    when: 'no operation had held the credits that a cancel released',
    damage: ({ kept }) => `update ledger_entries set hold_id = '${crypto.randomUUID()}'
      where order_id = '${kept}' and hold_id is not null; ${rewriteHashes}`,
  },
  {
    invariant: 'I-11',
    rule: 'what is set aside is set aside once and ends once',
    when: 'an open cancel holds its credits twice',
    damage: (books) => `drop index ledger_entries_begin_and_end_a_hold_once;
      ${addEntry(books, {
        kind: 'HOLD',
        delta: 0,
        heldDelta: 21,
        order: books.cancelling,
        holdId: `(select operation_id from payment_operations
                  where order_id = '${books.cancelling}' and kind = 'CANCEL')`,
      })}`,
    also: [`I-11 ${heldByOpen}`, guardsDown],
  },
]

const brokenHolds: BrokenRule[] = [
  {
    invariant: 'I-11',
    rule: 'no hold lasts longer than a hold may',
    when: 'its expiry was postponed by a year',
    damage: holdOf('held', `expires_at = expires_at + interval '1 year'`),
  },
  {
    invariant: 'I-11',
    rule: begins,
    when: 'it was moved to another service',
    damage: holdOf('held', `service_id = 'svc_other'`),
  },
  {
    invariant: 'I-11',
    rule: ends,
    when: 'an expired hold has the state RELEASED',
    damage: holdOf('overdue', `state = 'RELEASED'`),
  },
  {
    invariant: 'I-11',
    rule: ends,
    when: 'more was captured than the entry states',
    damage: holdOf('captured', 'captured = captured + 1'),
    also: [`I-11 ${capturedByEntries}`],
  },
  {
    invariant: 'I-11',
    rule: 'what is captured is part of what was held',
    when: 'a released hold has captured credits',
    damage: (books) =>
      `alter table holds drop constraint holds_captured_within; ${holdOf('released', 'captured = 1')(books)}`,
    also: [`I-11 ${capturedByEntries}`, guardsDown],
  },
  {
    invariant: 'I-11',
    rule: capturedByEntries,
    when: 'the credits of a part were put back into the hold, and the account with it',
    damage: (books) => `
      ${holdOf('inParts', 'credits = credits + 1, captured_in_parts = captured_in_parts - 1')(books)};
      ${account('held = held + 1')(books)}`,
    also: [`I-11 ${leftOfIt}`],
  },
  {
    invariant: 'I-11',
    rule: entryOfHold,
    when: 'the hold has forgotten its last part',
    damage: holdOf('inParts', 'part_entry = part_entry - 1'),
  },
  {
    invariant: 'I-11',
    rule: 'no hold lasts longer than a hold may',
    when: 'an extended hold was extended by a year',
    damage: (books) =>
      `alter table holds drop constraint holds_extended_within_a_week;
      ${holdOf('inParts', `expires_at = expires_at + interval '1 year'`)(books)}`,
    also: [guardsDown],
  },
  {
    invariant: 'I-13',
    rule: 'no hold is left active when its time is over',
    when: 'one is',
    damage: holdOf('held', `expires_at = now() - interval '11 minutes'`),
  },
]

const brokenAdjustments: BrokenRule[] = [
  {
    invariant: 'I-21',
    rule: 'the account knows how much of its balance comes from adjustments, as the ledger left it',
    when: 'credits without cash value were made paid ones',
    damage: () => 'update accounts set adjusted = adjusted - 1 where adjusted > 0',
  },
  {
    invariant: 'I-21',
    rule: 'credits of adjustments grow by adjustments alone, and are never more than the balance',
    when: 'it was lowered in the middle, and the hashes were rewritten',
    damage: () =>
      `update ledger_entries set adjusted_after = adjusted_after - 1 where kind = 'CORRECTION'; ${rewriteHashes}`,
  },
  {
    invariant: 'I-15',
    rule: hashed,
    when: 'the last entry says that more comes from adjustments, and the account too',
    damage: () => `update ledger_entries set adjusted_after = adjusted_after + 1 where reference = 'later';
      update accounts set adjusted = adjusted + 1 where adjusted > 0`,
    also: ['I-21 credits of adjustments grow by adjustments alone, and are never more than the balance'],
  },
  {
    invariant: 'I-21',
    rule: 'a cancel or a refund of a part took credits that were paid for, and that no other one had taken',
    when: 'all credits came from adjustments when it began',
    damage: ({ kept }) => `update ledger_entries set adjusted_after = balance_after
      where kind = 'HOLD' and order_id = '${kept}'; ${rewriteHashes}`,
    also: ['I-21 credits of adjustments grow by adjustments alone, and are never more than the balance'],
  },
  {
    invariant: 'I-21',
    rule: 'an entry of an adjustment is the one that its record names',
    when: 'the record was deleted',
    damage: () => `delete from adjustments where kind = 'CORRECTION'`,
  },
  {
    invariant: 'I-21',
    rule: 'an adjustment has an entry of its kind and credits',
    when: 'it was dated back',
    damage: () => `update adjustments set created_at = created_at - interval '1 day' where kind = 'CORRECTION'`,
  },
  {
    invariant: 'I-21',
    rule: 'no more is reversed than was spent',
    when: 'a reversal names a smaller spend',
    damage: () => `update adjustments a set reversed_entry = e.entry_number from ledger_entries e
      where a.kind = 'REVERSAL' and e.reference = 'small'`,
  },
  {
    invariant: 'I-21',
    rule: 'an adjustment above the limit of one person has the approval of a second one',
    when: 'the request is not approved',
    damage: () => `update adjustment_requests set (state, decided_by, decided_at) = ('PENDING', null, null)`,
  },
  {
    invariant: 'I-21',
    rule: 'an adjustment above the limit of one person has the approval of a second one',
    when: 'the record names no second person',
    damage: () => 'update adjustments set approved_by = null',
    also: [
      'A-1 every approval of an adjustment has the action of its operator, and every such action its approval',
      'A-1 every goodwill and correction is charged to the day of its operator, or of the one who approved it',
    ],
  },
  {
    invariant: 'I-21',
    rule: 'an adjustment above the limit of one person has the approval of a second one',
    when: 'the request is gone',
    damage: () => 'delete from adjustment_requests',
  },
]

const eventsInTime = 'I-17 the time of an event is not before that of the one before it'
const eventOfOrder = 'I-17 an event about an order has the package, the amount and the credits of the order'
const ruleOf = (name: string) => ({ invariant: 'I-17', rule: name.slice('I-17 '.length) })
const eventAbout = (order: keyof Books, type: string, set: string) => (books: Books) =>
  `update events set ${set} where data ->> 'orderId' = '${books[order]}' and type = 'order.${type}'`
const data = (member: object) => `data = data::jsonb || '${JSON.stringify(member)}'`

const brokenEvents: BrokenRule[] = [
  {
    ...ruleOf(eventOfOrder),
    when: 'it has another amount',
    damage: eventAbout('failed', 'failed', data({ amount: 1 })),
  },
  {
    ...ruleOf(eventOfOrder),
    when: 'it has other credits',
    damage: eventAbout('kept', 'confirmed', data({ credits: 1 })),
  },
  {
    ...ruleOf(eventOfEntry),
    when: 'it has another balance',
    damage: eventAbout('cancelled', 'cancelled', data({ balance: 1_000 })),
  },
  {
    ...ruleOf(eventOfEntry),
    when: 'two events were swapped',
    damage: ({ confirmed, kept }) => `update events v set data = o.data from events o
      where v.type = 'order.confirmed' and o.type = v.type
        and (v.data ->> 'orderId', o.data ->> 'orderId') in (('${confirmed}', '${kept}'), ('${kept}', '${confirmed}'))`,
  },
  {
    ...ruleOf(eventsInTime),
    when: 'two events were swapped with their times',
    damage: ({ confirmed, kept }) => `update events v set (data, created_at) = (o.data, o.created_at) from events o
      where v.type = 'order.confirmed' and o.type = v.type
        and (v.data ->> 'orderId', o.data ->> 'orderId') in (('${confirmed}', '${kept}'), ('${kept}', '${confirmed}'))`,
  },
  {
    ...ruleOf('I-17 an order has one event for each state'),
    when: 'an event was overwritten with another',
    damage: ({ failed, returned }) => `update events v set data = o.data from events o
      where v.data ->> 'orderId' = '${returned}' and o.data ->> 'orderId' = '${failed}'`,
  },
  ...[{ credits: 1_000 }, { threshold: 'none' }].map((member) => ({
    ...ruleOf('I-17 an event about few credits has fewer than its threshold'),
    when: `it has ${JSON.stringify(member)}`,
    damage: () => `update events set ${data(member)} where type = 'credits.low'`,
  })),
  ...(
    [
      ['credits.empty', { credits: 1 }],
      ['budget.low', { left: 1_000 }],
    ] as const
  ).map(([type, member]) => ({
    ...ruleOf('I-17 credits.empty has no credits, and what is left of a budget is its limit less its use'),
    when: `${type} has ${JSON.stringify(member)}`,
    damage: () => `update events set ${data(member)} where type = '${type}'`,
  })),
  {
    invariant: 'I-17',
    rule: 'the events of a customer are numbered from one without a gap',
    when: 'an event was deleted',
    damage: ({ customer }) => `delete from events where customer_id = '${customer}' and event_number = 2`,
  },
  {
    invariant: 'I-17',
    rule: 'the events of a customer begin after those that were deleted',
    when: 'the first event was deleted',
    damage: ({ customer }) => `delete from events where customer_id = '${customer}' and event_number = 1`,
  },
  {
    invariant: 'I-17',
    rule: eventMatchesOrder.slice('I-17 '.length),
    when: 'the event of a confirmed order reports that it failed',
    damage: ({ kept }) => `update events set type = 'order.failed', data = data::jsonb || '{"status": "FAILED"}'
      where data ->> 'orderId' = '${kept}'`,
  },
  {
    invariant: 'I-17',
    rule: eventMatchesOrder.slice('I-17 '.length),
    when: 'the event names another customer',
    damage: ({ spender, kept }) => `update events set data = data::jsonb || '{"customerId": "${spender}"}'
      where data ->> 'orderId' = '${kept}'`,
  },
]

export const brokenCredits = [
  ...brokenAccounts,
  ...brokenBudgets,
  ...brokenEntries,
  ...brokenHolds,
  ...brokenAdjustments,
  ...brokenEvents,
]
