// Calls the API of the console by the names of its endpoints. What goes in and what comes out has the types of the
// server's contract; everything that is not a success is an ApiError. The session is a cookie that this code never sees.

import type { Body, Data, Params, Query } from '../../../src/console/contract.ts'
import { apiPath, type EndpointName, endpoints, exports } from '../../../src/console/endpoints.ts'

export type { Data, EndpointName }

type Part<Name extends string, Value> = undefined extends Value
  ? unknown
  : Record<never, never> extends Value
    ? { [Key in Name]?: Value }
    : { [Key in Name]: Value }

/** What an endpoint takes: of params, query and body those that it has. */
export type Input<Name extends EndpointName> = Part<'params', Params<Name>> &
  Part<'query', Query<Name>> &
  Part<'body', Body<Name>>

export type FieldFault = { field: string; rule: string }

/** `status` 0: no answer came. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly code: string
  /** Which refusal of its code it is, where there are several. */
  readonly reason: string | null
  readonly fields: FieldFault[]
  /** By which the log has it. */
  readonly requestId: string | null
  /** Of somebody who has typed too many wrong passwords: until when they wait. */
  readonly pauseSeconds: number | null

  constructor(status: number, code: string, message: string, metadata: Metadata | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.reason = metadata?.reason ?? null
    this.fields = metadata?.fields ?? []
    this.requestId = metadata?.requestId ?? null
    this.pauseSeconds = (metadata?.reason === 'wrong passwords' && metadata.retryAfterSeconds) || null
  }
}

type Metadata = { fields?: FieldFault[]; reason?: string; requestId?: string; retryAfterSeconds?: number }

type Envelope = { success: boolean; data: unknown; message: string | null; code: string; metadata: Metadata | null }
export type Asked = { params?: Record<string, string>; query?: Record<string, string | undefined> }
type AnyInput = Asked & { body?: object }

let onSignedOut = (): void => undefined
let onRefused = (): void => undefined

/** Told when an answer says that nobody is signed in any more. */
export function whenSignedOut(told: () => void): void {
  onSignedOut = told
}

/** Told when an answer says that whoever is signed in may not do this: the page takes them for somebody who may. */
export function whenRefused(told: () => void): void {
  onRefused = told
}

let answeredAt = Date.now()

/** When something was last given to whoever is signed in. */
export function lastAnsweredAt(): number {
  return answeredAt
}

export async function call<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  signal?: AbortSignal,
): Promise<Data<Name>> {
  const { body, ...where } = input as AnyInput
  const [method = 'GET', path = ''] = endpoints[name].split(' ')
  const response = await fetch(addressOf(path, where), {
    method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
    body: body ? JSON.stringify(body) : null,
    signal: signal ?? null,
  }).catch(unanswered)
  const envelope = (await response.json().catch(() => null)) as Envelope | null
  if (response.ok && envelope?.success) {
    answeredAt = Date.now()
    return envelope.data as Data<Name>
  }
  // A wrong password is answered like a session that has ended.
  throw refusalOf(response, envelope, name !== 'signIn')
}

function unanswered(error: Error): never {
  if (error.name === 'AbortError') throw error
  throw new ApiError(0, 'NO_ANSWER', error.message)
}

function refusalOf(response: Response, envelope: Envelope | null, isOfSession = true): ApiError {
  if (response.status === 401 && isOfSession) onSignedOut()
  if (response.status === 403) onRefused()
  return new ApiError(
    response.status,
    envelope?.code ?? `HTTP ${response.status}`,
    envelope?.message ?? response.statusText,
    envelope?.metadata,
  )
}

export type ExportName = keyof typeof exports

/** A file to save, whole, by the name that the service gives it. */
export async function readFile(name: ExportName, where: Asked): Promise<{ name: string; content: Blob }> {
  const response = await fetch(addressOf(exports[name], where), { credentials: 'same-origin' }).catch(unanswered)
  if (!response.ok) throw refusalOf(response, (await response.json().catch(() => null)) as Envelope | null)
  answeredAt = Date.now()
  const named = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')
  return { name: named?.[1] ?? `${name}.csv`, content: await response.blob().catch(unanswered) }
}

function addressOf(path: string, { params = {}, query = {} }: Asked): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const asked = Object.entries(query).filter((each): each is [string, string] => !!each[1])
  return `${apiPath}${filled}${asked.length ? `?${new URLSearchParams(asked)}` : ''}`
}
