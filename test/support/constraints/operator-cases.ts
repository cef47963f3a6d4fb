// What the schema forbids for operators, their sessions and their action log, and for the tables of the console: a row that
// cannot be inserted, and the end of the name of the constraint that refuses it.
import type { Case } from './credit-cases.ts'
import {
  action,
  actionEnd,
  auditRow,
  cancelKey,
  customer,
  dailyAudit,
  figure,
  gatewayAttempt,
  journalEntry,
  operator,
  session,
  uuid,
  wrongPasswords,
} from './rows.ts'

export const operatorCases: Record<string, Case[]> = {
  record_journal: [
    ['a second entry of the journal with a number', 'pkey', journalEntry({ record_number: 1 })],
    ['an entry of the journal before the first', 'number_from_one', journalEntry({ record_number: 0 })],
    ['an entry of the journal without a hash', 'hashes_are_sha256', journalEntry({ content_hash: Buffer.alloc(31) })],
    ['an entry that is not chained', 'hashes_are_sha256', journalEntry({ journal_hash: Buffer.alloc(31) })],
    ['an entry with half a hash of before', 'hashes_are_sha256', journalEntry({ before_hash: Buffer.alloc(31) })],
  ],
  record_journal_head: [
    ['a second head of the journal', 'pkey', { only_one: true }],
    ['a head of another journal', 'only_one', { only_one: false }],
  ],
  operator_actions: [
    ['a second beginning of an action', 'pkey', action({ action_id: uuid(1) })],
    ['an unknown step', 'step', { action_id: uuid(9), step: 'UNDONE' }],
    ['an action without an actor', 'begun_says_what', action({ actor: null })],
    ['an action without its command', 'begun_says_what', action({ command: null })],
    ['an action without its arguments', 'begun_says_what', action({ arguments: null })],
    ['an end with an actor', 'begun_says_what', actionEnd({ actor: 'another operator' })],
    ['an action that has ended when it begins', 'ended_says_how', action({ outcome: 'ok' })],
    ['an end without an outcome', 'ended_says_how', actionEnd({ outcome: null })],
    ['an end without its about', 'ended_says_how', actionEnd({ about: null })],
    ['an action that was lost with another outcome', 'lost_is_unknown', actionEnd({ step: 'LOST', outcome: 'ok' })],
    ['a reason that comes with the end', 'why_and_what_with_the_beginning', actionEnd({ reason: 'asked for' })],
    ['a subject that comes with the end', 'why_and_what_with_the_beginning', actionEnd({ subject: 'ord_1' })],
  ],
  open_actions: [['an action that is open twice', 'pkey', { action_id: uuid(1) }]],
  operators: [
    ['a second operator with an id', 'pkey', operator({ operator_id: 'opr_1' })],
    ['a second operator of a name', 'name_key', operator({ name: 'first' })],
    ['a name in capitals', 'name', operator({ name: 'Kim' })],
    ['a name of one character', 'name', operator({ name: 'k' })],
    ['a name with a space', 'name', operator({ name: 'kim lee' })],
    ['an unknown role', 'role', operator({ role: 'owner' })],
    ['a password in plain text', 'password_is_hashed', operator({ password_hash: 'hunter2' })],
    ['an unknown status', 'status', operator({ status: 'AWAY' })],
  ],
  operator_sessions: [
    ['a session with the hash of another', 'pkey', session({ session_hash: Buffer.alloc(32, 1) })],
    ['a session without an operator', 'operator_id_fkey', session({ operator_id: 'opr_none' })],
    ['a session with a value that is no hash', 'hash_is_sha256', session({ session_hash: Buffer.alloc(31) })],
  ],
  sign_in_failures: [
    ['wrong passwords that are counted twice', 'pkey', wrongPasswords({ subject: Buffer.alloc(32, 1) })],
    ['a count of 0 wrong passwords', 'counted', wrongPasswords({ failures: 0 })],
    ['wrong passwords for a name in plain text', 'subject_is_sha256', wrongPasswords({ subject: Buffer.alloc(5) })],
  ],
  payment_attempts: [
    ['an attempt that is stored twice', 'pkey', gatewayAttempt({ holder_id: uuid(1) })],
    ['an attempt of no operation', 'customer_id_operation_id_fkey', gatewayAttempt({ operation_id: uuid(99) })],
  ],
  cancel_keys: [
    ['a second key of a cancel', 'pkey', cancelKey({ key_id: 'key_2' })],
    ['the key of no operation', 'customer_id_operation_id_fkey', cancelKey({ operation_id: uuid(99) })],
  ],
  hourly_figures: [['an hour that is aggregated twice', 'pkey', figure({ hour: '2026-01-01T00:00:00Z' })]],
  customer_figures: [
    ['the figures of a customer twice', 'pkey', { customer_id: customer, revenue: 1, orders: 1 }],
    ['figures of an unknown customer', 'customer_id_fkey', { customer_id: uuid(99), revenue: 1, orders: 1 }],
  ],
  figures_reached: [
    ['a second row for the time reached', 'pkey', { reached: 'now' }],
    ['a time reached in another than the only row', 'only_one', { only_one: false, reached: 'now' }],
  ],
  audits: [
    ['an audit that is stored twice', 'pkey', auditRow({ audit_id: uuid(1) })],
    ['an audit with an unknown cause', 'cause', auditRow({ cause: 'WHIM' })],
    ['an audit that ends before it begins', 'ends_after_it_began', auditRow({ begun_at: 'tomorrow' })],
    ['a violation without a finding', 'says_what_it_found', auditRow({ violation_count: 1 })],
    ['a finding that is not counted', 'says_what_it_found', auditRow({ findings: '[{}]' })],
  ],
  daily_audits: [
    ['a second claim of a day', 'pkey', dailyAudit({ day: '2026-01-01' })],
    ['a day whose audit does not exist', 'audit_id_fkey', dailyAudit({ audit_id: uuid(99) })],
  ],
  sweeping_processes: [['a process that is stored twice', 'pkey', { process_id: uuid(1), lease_until: 'now' }]],
}
