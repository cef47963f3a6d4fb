// What the schema makes impossible with operators, their sessions and their trail, and with what the console shows: a row that
// cannot be inserted, and the end of the name of what refuses it.
import type { Case } from './credit-cases.ts'
import {
  action,
  actionEnd,
  auditRow,
  cancelKey,
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
    ['a step of its own', 'step', { action_id: uuid(9), step: 'UNDONE' }],
    ['an action of nobody', 'begun_says_what', action({ actor: null })],
    ['an action without its command', 'begun_says_what', action({ command: null })],
    ['an action without its arguments', 'begun_says_what', action({ arguments: null })],
    ['an end that names somebody else', 'begun_says_what', actionEnd({ actor: 'somebody else' })],
    ['an action that has ended when it begins', 'ended_says_how', action({ outcome: 'ok' })],
    ['an end without an outcome', 'ended_says_how', actionEnd({ outcome: null })],
    ['an end that does not say what about', 'ended_says_how', actionEnd({ about: null })],
    ['a reason that comes with the end', 'why_and_what_with_the_beginning', actionEnd({ reason: 'asked for' })],
    ['a subject that comes with the end', 'why_and_what_with_the_beginning', actionEnd({ subject: 'ord_1' })],
  ],
  operators: [
    ['a second operator with an id', 'pkey', operator({ operator_id: 'opr_1' })],
    ['a second operator of a name', 'name_key', operator({ name: 'first' })],
    ['a name in capitals', 'name', operator({ name: 'Kim' })],
    ['a name of one character', 'name', operator({ name: 'k' })],
    ['a name with a space', 'name', operator({ name: 'kim lee' })],
    ['a role that nobody knows', 'role', operator({ role: 'owner' })],
    ['a password as it was typed', 'password_is_hashed', operator({ password_hash: 'hunter2' })],
    ['a status that nobody knows', 'status', operator({ status: 'AWAY' })],
  ],
  operator_sessions: [
    ['a session with the hash of another', 'pkey', session({ session_hash: Buffer.alloc(32, 1) })],
    ['a session of nobody', 'operator_id_fkey', session({ operator_id: 'opr_none' })],
    ['a session with something else than a hash', 'hash_is_sha256', session({ session_hash: Buffer.alloc(31) })],
  ],
  sign_in_failures: [
    ['wrong passwords that are counted twice', 'pkey', wrongPasswords({ subject: Buffer.alloc(32, 1) })],
    ['fewer wrong passwords than one', 'counted', wrongPasswords({ failures: 0 })],
    ['wrong passwords for a name as it was typed', 'subject_is_sha256', wrongPasswords({ subject: Buffer.alloc(5) })],
  ],
  payment_attempts: [
    ['an attempt that is noted twice', 'pkey', gatewayAttempt({ holder_id: uuid(1) })],
    ['an attempt of no operation', 'customer_id_operation_id_fkey', gatewayAttempt({ operation_id: uuid(99) })],
  ],
  cancel_keys: [
    ['a second key of a cancel', 'pkey', cancelKey({ key_id: 'key_2' })],
    ['the key of no operation', 'customer_id_operation_id_fkey', cancelKey({ operation_id: uuid(99) })],
  ],
  hourly_figures: [['an hour that is added up twice', 'pkey', figure({ hour: '2026-01-01T00:00:00Z' })]],
  figures_reached: [
    ['a second place to have come to', 'pkey', { reached: 'now' }],
    ['a place to have come to beside the one', 'only_one', { only_one: false, reached: 'now' }],
  ],
  audits: [
    ['an audit that is noted twice', 'pkey', auditRow({ audit_id: uuid(1) })],
    ['an audit for a reason that nobody knows', 'cause', auditRow({ cause: 'WHIM' })],
    ['an audit that ends before it begins', 'ends_after_it_began', auditRow({ begun_at: 'tomorrow' })],
    ['a violation without what it is', 'says_what_it_found', auditRow({ violation_count: 1 })],
    ['a finding that is not counted', 'says_what_it_found', auditRow({ findings: '[{}]' })],
  ],
  daily_audits: [
    ['a second claim of a day', 'pkey', dailyAudit({ day: '2026-01-01' })],
    ['a day whose audit is not there', 'audit_id_fkey', dailyAudit({ audit_id: uuid(99) })],
  ],
}
