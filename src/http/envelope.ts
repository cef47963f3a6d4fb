// Section 1 of the specification: the five fields of every answer. Success has a payload and no metadata; an error has
// metadata or null, and never a payload.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import Type from 'typebox'
import { catalogue, type ErrorCode, type Refusal } from '../core/errors.ts'

export type Envelope<Data> = {
  success: boolean
  data: Data | null
  message: string | null
  code: 'SUCCESS' | ErrorCode
  metadata: Record<string, unknown> | null
}

export type Success<Data, Message extends string | null> = {
  success: true
  data: Data
  message: Message
  code: 'SUCCESS'
  metadata: null
}

export function success<Data, Message extends string | null>(data: Data, message: Message): Success<Data, Message> {
  return { success: true, data, message, code: 'SUCCESS', metadata: null }
}

export function failure({ code, message, metadata }: Pick<Refusal, 'code' | 'message' | 'metadata'>): Envelope<never> {
  return { success: false, data: null, message, code, metadata }
}

/** One schema with two types: with a union the serialiser would try each schema for every answer. */
export const NullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] })

/** The schema of a success: fields that it does not name are not sent. Only a cancel has no message. */
export function SuccessOf<Data extends Type.TSchema, Message extends Type.TSchema = Type.TString>(
  data: Data,
  message = Type.String() as Type.TSchema as Message,
) {
  return Type.Object({
    success: Type.Literal(true),
    data,
    message,
    code: Type.Literal('SUCCESS'),
    metadata: Type.Null(),
  })
}

/** Why a request is refused, or an order is FAILED. Of the bodies only VAL003 of a confirm has it, too (`metadata.reason`). */
export const refusalReasonHeader = 'Refusal-Reason'

/** On every answer: only its caller may keep it, and no browser shows it as a page. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const

/** Each is serialised once: under overload there are very many refusals. */
const failureTexts = new Map<ErrorCode, string>()

/** With the text of the catalogue. */
function failureText(code: ErrorCode): string {
  const known = failureTexts.get(code)
  if (known !== undefined) return known
  const text = JSON.stringify(failure({ code, message: catalogue[code].message, metadata: null }))
  failureTexts.set(code, text)
  return text
}

/** Bypasses the framework. */
export function writeFailure(response: ServerResponse, code: ErrorCode, headers: OutgoingHttpHeaders): void {
  const text = failureText(code)
  response.writeHead(catalogue[code].status, {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

/** A whole HTTP answer as text, where there is no response object: unreadable, head too large, CONNECT. */
export function rawFailure(code: ErrorCode): string {
  const { status } = catalogue[code]
  const body = failureText(code)
  return [
    `HTTP/1.1 ${status} ${reasonPhrases[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
    ...(code === 'SVC001' ? ['Retry-After: 1'] : []),
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

const reasonPhrases: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}
