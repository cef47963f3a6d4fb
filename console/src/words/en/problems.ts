// What went wrong and what to do about it, in English: by the reason of a refusal, by its code, by the field it is about. The
// service's own sentence is shown below as a detail.
import type { ConsoleRefusal } from '../../../../src/console/refusals.ts'
import type { ErrorCode } from '../../../../src/core/errors.ts'

export type Told = { title: string; hint: string | null }

const unreadable: Told = {
  title: 'The service could not read what the page sent.',
  hint: 'Load the page again. If it happens again, tell who runs the service.',
}

const codes: Record<ErrorCode | 'NO_ANSWER', Told> = {
  NO_ANSWER: {
    title: 'The service did not answer.',
    hint: 'It may be starting again. An action may have happened all the same: look before you repeat it.',
  },
  INT001: {
    title: 'Something went wrong in the service.',
    hint: 'Its log has the details. An action may have happened all the same: look before you repeat it.',
  },
  SVC001: {
    title: 'The service cannot do this now.',
    hint: 'Wait a moment and look at what the page shows before you try again.',
  },
  AUTH001: { title: 'You are signed out.', hint: 'Sign in and repeat this.' },
  AUTH003: { title: 'Your role may not do this.', hint: 'Ask somebody whose role may.' },
  NOT000: { title: 'There is no such thing.', hint: 'Check the address, or search for it.' },
  VAL001: unreadable,
  VAL002: { title: 'Something is missing.', hint: null },
  VAL003: { title: 'This cannot be accepted.', hint: null },
  VAL004: { title: 'This is too long.', hint: 'Shorten it and try again.' },
  PAYMENT_CANCEL_FAILED: {
    title: 'The money was not given back.',
    hint: 'Look at the story of the order, and settle it with the gateway.',
  },
  BUS002: { title: 'There are not enough credits.', hint: null },
  INVALID_API_KEY: unreadable,
}

const reasons: Record<ConsoleRefusal, Told> = {
  'refused by the gateway': {
    title: 'The gateway refused the refund.',
    hint: 'Nothing was given back and no credits were taken. The story of the order has its answer. Settle the order to see what the gateway holds now.',
  },
  'not confirmed': {
    title: 'This order cannot be refunded.',
    hint: 'Only a confirmed order can. Its status has changed: look at its story.',
  },
  open: {
    title: 'Something is under way at the gateway.',
    hint: 'Settle the order first, then try again.',
  },
  changed: { title: 'The order has changed meanwhile.', hint: 'Look at it once more, then decide.' },
  resolved: {
    title: 'It is resolved already.',
    hint: 'Somebody else was faster, or the two sides agree by now. Its page shows how it ended.',
  },
  'suspended key': { title: 'The key is suspended already.', hint: 'Issue a new one instead.' },
  'other days': {
    title: 'Other days are being compared.',
    hint: 'One comparison runs at a time. Try again when it has ended: Reconciliations shows it.',
  },
  role: { title: 'Your role may not do this.', hint: 'Ask somebody whose role may.' },
  password: { title: 'Change your first password.', hint: 'Until then nothing else can be done.' },
  origin: {
    title: 'This did not come from a page of the console.',
    hint: 'Open the console in its own window and try again there.',
  },
  'lapsed password': {
    title: 'This first password is not valid any more.',
    hint: 'It was not changed in time. Ask an admin for a new one.',
  },
  'wrong passwords': { title: 'Too many wrong passwords.', hint: 'Wait a while before the next try.' },
  'signing in': { title: 'Too many are signing in at once.', hint: 'Try again in a moment.' },
  'console busy': {
    title: 'Too much is asked of the console at once.',
    hint: 'Nothing was done. Try again in a moment.',
  },
}

export const problems = {
  said: 'What the service said',
  page: {
    title: 'This page broke.',
    hint: 'Load it again. If it breaks again, tell who runs the service.',
  } as Told,
  other: { title: 'This was refused.', hint: 'Load the page again and look at what it shows now.' } as Told,

  codes,
  reasons,

  /** What a field has to be, wherever it is asked for. Numbers that differ are in what the service said. */
  fields: {
    reason: 'Reason: 3 to 200 characters in one line.',
    name: 'Name: 1 to 100 characters in one line.',
    password: 'Password: at most 200 characters.',
    current: 'Current password: it is wrong.',
    next: 'New password: 12 to 200 characters, and not the one of now.',
    credits: 'Credits: a whole number from 1 on.',
    from: 'From: a day that exists, neither in the future nor too long ago.',
    to: 'To: a day that exists, not before the first and not too long after it.',
    q: 'Search: one line, neither empty nor too long.',
    cursor: 'The list has changed: load the page again.',
    status: 'Status: one of the list.',
    state: 'State: one of the list.',
    subject: 'About: at most 100 characters in one line.',
    customerId: 'Customer: the id of one.',
    days: 'Days: one of the choices.',
  },

  /** Why an endpoint did not take an event. */
  deliveries: {
    answered: (status: string) => `the endpoint answered HTTP ${status}`,
    notSecure: (scheme: string) => `its URL is not one of ${scheme}`,
    port: (port: string) => `port ${port} of its URL is neither 443 nor at least 1024`,
    notPublic: (host: string) => `${host} is not a public address`,
    sealed: (version: string) => `its signing secret is sealed under secret ${version}, which is not among KEY_PEPPER`,
    errors: {
      'not sent: there was no time left': 'not sent: there was no time left',
      'not sent: the one before it was not taken': 'not sent: the one before it was not taken',
      'the endpoint is disabled': 'the endpoint is disabled',
      'the endpoint has been removed': 'the endpoint has been removed',
      'the URL has a user or a password': 'its URL has a user or a password',
      'Unsupported state or unable to authenticate data': 'its signing secret cannot be unsealed with KEY_PEPPER',
      TimeoutError: 'the endpoint did not answer in time',
      UND_ERR_CONNECT_TIMEOUT: 'the endpoint did not accept the connection in time',
      UND_ERR_SOCKET: 'the endpoint broke off the connection',
      ECONNREFUSED: 'the endpoint did not accept the connection',
      ECONNRESET: 'the endpoint broke off the connection',
      ENOTFOUND: 'the host of the endpoint is not known',
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
