// Texts of errors, with what to do about them: by the reason of a refusal, by its code, by field. The message of the service is
// shown below as a detail.
import type { ConsoleRefusal } from '../../../../src/console/refusals.ts'
import type { ErrorCode } from '../../../../src/core/errors.ts'

export type ProblemText = { title: string; hint: string | null }

const unreadable: ProblemText = {
  title: 'The service could not read the request.',
  hint: 'Reload the page. If it happens again, notify the engineers on call.',
}

const codes: Record<ErrorCode | 'NO_ANSWER', ProblemText> = {
  NO_ANSWER: {
    title: 'The service did not respond.',
    hint: 'It may be restarting. The action may have been carried out: check before you repeat it.',
  },
  INT001: {
    title: 'Service error.',
    hint: 'The log of the service has the details. The action may have been carried out: check before you repeat it.',
  },
  SVC001: {
    title: 'Not available right now.',
    hint: 'Wait a moment and check the current state before you try again.',
  },
  AUTH001: { title: 'You are signed out.', hint: 'Sign in and try again.' },
  AUTH003: { title: 'Your role does not allow this.', hint: 'Ask an operator whose role allows it.' },
  NOT000: { title: 'Not found.', hint: 'Check the address, or use the search.' },
  VAL001: unreadable,
  VAL002: { title: 'A required field is missing.', hint: null },
  VAL003: { title: 'Invalid input.', hint: null },
  VAL004: { title: 'The input is too long.', hint: 'Shorten it and try again.' },
  // In the console: a refused refund. A cancel of a customer that is refused before it begins is not stored, so no page shows it.
  PAYMENT_CANCEL_FAILED: {
    title: 'The refund failed.',
    hint: 'Check the timeline of the order, and sync it with the gateway.',
  },
  BUS002: { title: 'Not enough credits.', hint: null },
  INVALID_API_KEY: unreadable,
}

const reasons: Record<ConsoleRefusal, ProblemText> = {
  'refused by the gateway': {
    title: 'The gateway declined the refund.',
    hint: 'Nothing was refunded and no credits were deducted. The timeline shows the response of the gateway. Sync the order to see its state at the gateway.',
  },
  'not confirmed': {
    title: 'This order cannot be refunded.',
    hint: 'Only a confirmed order can be refunded. Its status has changed: check the timeline.',
  },
  open: {
    title: 'An operation is in progress at the gateway.',
    hint: 'Sync the order with the gateway first, then try again.',
  },
  'refunded already': {
    title: 'This order is already refunded.',
    hint: 'The page of the order shows how much was returned.',
  },
  'nothing left': {
    title: 'Nothing is left to refund.',
    hint: 'All credits that were paid for are used. Bonus credits have no value.',
  },
  'below the smallest amount': {
    title: 'The unused part is too small to be refunded.',
    hint: 'The rule of the order has the limit: the settings REFUND_SMALLEST_AMOUNT and REFUND_RULES.',
  },
  'credits held': {
    title: 'Unused credits are on hold.',
    hint: 'A service has reserved them for a job. Wait until the job has ended, then try again.',
  },
  'cancelled in part at the gateway': {
    title: 'Part of this payment is already cancelled at the gateway.',
    hint: 'Sync the order with the gateway, then accept the cancellation on the page of the discrepancy.',
  },
  'not partly cancelled': {
    title: 'There is nothing to accept.',
    hint: 'The gateway does not show a part of this payment as cancelled that is not accepted yet. Sync the order with the gateway.',
  },
  'not a part': {
    title: 'This discrepancy cannot be accepted.',
    hint: 'It is resolved, or is not about a part that was cancelled at the gateway. Reload the page.',
  },
  'gateway does not answer': {
    title: 'The gateway does not answer.',
    hint: 'Nothing was done: what was cancelled is not known. The home page shows the state of the gateway. Try again in a few minutes.',
  },
  'accepted otherwise': {
    title: 'Already accepted with another number of credits.',
    hint: 'Another operator was faster. The page of the order shows what was deducted.',
  },
  'requested already': {
    title: 'A request with another number of credits is waiting.',
    hint: 'Nothing was done. Another operator approves or rejects that request first.',
  },
  changed: {
    title: 'The order or its credits have changed in the meantime.',
    hint: 'Nothing was done. Check the new state before you continue.',
  },
  resolved: {
    title: 'Already resolved.',
    hint: 'Another operator was faster, or gateway and books match by now. The page of the discrepancy shows how it was resolved.',
  },
  'adjustment limit': {
    title: 'This is more than what is left of your daily limit for adjustments.',
    hint: 'Nothing was done. Ask an operator with a higher limit, or wait until tomorrow (Korean time).',
  },
  'second person': {
    title: 'Another operator has to approve this.',
    hint: 'You requested it yourself.',
  },
  decided: { title: 'This request is already decided.', hint: 'Another operator was faster. Reload the page.' },
  'too many budgets': { title: 'There are 100 budgets already.', hint: 'Remove one first.' },
  'too many to sort': {
    title: 'There are too many orders to sort by amount.',
    hint: 'Choose a shorter period.',
  },
  'too many customers': {
    title: 'There are too many customers to sort by balance.',
    hint: 'It reads all accounts, up to 200,000. Sort by net payments or last purchase instead.',
  },
  'not logged yet': {
    title: 'Ready in a few seconds.',
    hint: 'The worker adds entries to the transparency log within seconds. Try again; if it takes minutes, the page of the log shows how many entries wait.',
  },
  'log held back': {
    title: 'The transparency log signs nothing.',
    hint: 'It was restored from a backup and needs another name. The page of the log shows what to set.',
  },
  'suspended key': { title: 'The key is already suspended.', hint: 'Issue a new one instead.' },
  'other days': {
    title: 'A reconciliation of other days is running.',
    hint: 'Only one runs at a time. Try again when it has ended; the tab Runs shows it.',
  },
  'needs one server': {
    title: 'On a cluster there is no budget over all customers.',
    hint: 'Set budgets of the service for single customers instead.',
  },
  role: { title: 'Your role does not allow this.', hint: 'Ask an operator whose role allows it.' },
  password: { title: 'Change your first password.', hint: 'Until then nothing else is possible.' },
  origin: {
    title: 'The request did not come from the console.',
    hint: 'Open the console in its own window and try again there.',
  },
  'lapsed password': {
    title: 'This first password has expired.',
    hint: 'It was not changed in time. Ask an admin for a new one.',
  },
  'wrong passwords': { title: 'Too many wrong passwords.', hint: 'Wait a while before you try again.' },
  'signing in': { title: 'Too many sign-ins at once.', hint: 'Try again in a moment.' },
  'console busy': {
    title: 'The console is busy.',
    hint: 'Nothing was done. Try again in a moment.',
  },
}

export const problems = {
  serviceMessage: 'Message of the service',
  page: {
    title: 'This page could not be displayed.',
    hint: 'Reload it. If it happens again, notify the engineers on call.',
  } as ProblemText,
  other: { title: 'The request was refused.', hint: 'Reload the page and check the current state.' } as ProblemText,

  codes,
  reasons,

  /** The rule of each field, on any page. Numbers that differ are in the message of the service. */
  fields: {
    reason: 'Reason: 3 to 200 characters in one line.',
    name: 'Name: 1 to 100 characters in one line.',
    password: 'Password: at most 200 characters.',
    current: 'Current password: wrong.',
    next: 'New password: 12 to 200 characters, not the current one.',
    credits: 'Credits: whole numbers within the limits shown in the dialog.',
    value: 'Value: the name of a service, or 1 to 200 visible ASCII characters for a key or a user.',
    warnAt: 'Warning at: a whole number from 1 to the credits of the budget.',
    url: 'URL: a public https address, without user, password and fragment.',
    types: 'Event types: those of the list.',
    from: 'From: a valid date, not in the future and not too long ago.',
    to: 'To: a valid date, not before the start date and not too long after it.',
    q: 'Search: one line, not empty and not too long.',
    cursor: 'The list has changed: reload the page.',
    status: 'Status: a value of the list.',
    state: 'State: a value of the list.',
    subject: 'Subject: at most 100 characters in one line.',
    customerId: 'Customer: a customer ID.',
    days: 'Period: a value of the list.',
    packageType: 'Package: a value of the list.',
    failure: 'Reason: a value of the list.',
    sort: 'Sort: a value of the list.',
  },

  /** Why a delivery to an endpoint failed. */
  deliveries: {
    answered: (status: string) => `the endpoint responded with HTTP ${status}`,
    notSecure: (scheme: string) => `its URL does not use ${scheme}`,
    port: (port: string) => `port ${port} of its URL is neither 443 nor at least 1024`,
    notPublic: (host: string) => `${host} is not a public address`,
    sealed: (version: string) => `its signing secret is encrypted with secret ${version}, which is not in KEY_PEPPER`,
    errors: {
      'not sent: there was no time left': 'not sent: no time left',
      'not sent: the one before it was not taken': 'not sent: the event before it was not delivered',
      'the endpoint is disabled': 'the endpoint is disabled',
      'the endpoint has been removed': 'the endpoint has been removed',
      'the URL has a user or a password': 'its URL contains a user name or a password',
      'Unsupported state or unable to authenticate data': 'its signing secret cannot be decrypted with KEY_PEPPER',
      TimeoutError: 'the endpoint did not respond in time',
      UND_ERR_CONNECT_TIMEOUT: 'the endpoint did not accept the connection in time',
      UND_ERR_SOCKET: 'the endpoint closed the connection',
      ECONNREFUSED: 'the endpoint did not accept the connection',
      ECONNRESET: 'the endpoint closed the connection',
      ENOTFOUND: 'the host of the endpoint was not found',
      EAI_AGAIN: 'the host of the endpoint could not be looked up',
      EHOSTUNREACH: 'the endpoint cannot be reached',
      ENETUNREACH: 'the endpoint cannot be reached',
      ETIMEDOUT: 'the endpoint did not accept the connection in time',
      CERT_HAS_EXPIRED: 'the certificate of the endpoint has expired',
      DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the endpoint is not trusted',
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the endpoint is not trusted',
      ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the endpoint is for another host',
    },
  },
}
