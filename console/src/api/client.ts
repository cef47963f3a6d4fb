// Calls the API of the console by endpoint name. Input and data have the types of the server's contract; everything that is not a
// success is an ApiError. The session is a cookie that scripts cannot read.
import type { Body, Data, Params, Query } from '../../../src/console/contract.ts'
import { apiPath, type EndpointName, endpoints, exports } from '../../../src/console/endpoints.ts'

export type { Data, EndpointName }

type Part<Name extends string, Value> = undefined extends Value
  ? unknown
  : Record<never, never> extends Value
    ? { [Key in Name]?: Value }
    : { [Key in Name]: Value }

/** The input of an endpoint: of params, query and body those that it has. */
export type Input<Name extends EndpointName> = Part<'params', Params<Name>> &
  Part<'query', Query<Name>> &
  Part<'body', Body<Name>>

export type FieldFault = { field: string; rule: string }

/** `status` 0: no response was received. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly code: string
  /** Which refusal of its code it is, where there are several. */
  readonly reason: string | null
  readonly fields: FieldFault[]
  /** For finding it in the log of the service. */
  readonly requestId: string | null
  /** After too many wrong passwords: seconds until the next try. */
  readonly pauseSeconds: number | null
  /** The service refused before the action began: nothing has happened. */
  readonly isBeforeBeginning: boolean

  constructor(status: number, code: string, message: string, metadata: Metadata | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.reason = metadata?.reason ?? null
    this.fields = metadata?.fields ?? []
    this.requestId = metadata?.requestId ?? null
    this.pauseSeconds = (metadata?.reason === 'wrong passwords' && metadata.retryAfterSeconds) || null
    this.isBeforeBeginning = metadata?.began === false
  }
}

type Metadata = {
  fields?: FieldFault[]
  reason?: string
  requestId?: string
  retryAfterSeconds?: number
  began?: boolean
}

type Envelope = { success: boolean; data: unknown; message: string | null; code: string; metadata: Metadata | null }
export type RequestPath = { params?: Record<string, string>; query?: Record<string, string | undefined> }
type AnyInput = RequestPath & { body?: object }

let onSignedOut = (): void => undefined
let onRefused = (): void => undefined

/** Called when the service answers that there is no session any more. */
export function whenSignedOut(callback: () => void): void {
  onSignedOut = callback
}

/** Called when a permission is missing: the role or the session is not the one the page knows. */
export function whenRefused(callback: () => void): void {
  onRefused = callback
}

let answeredAt = Date.now()

/** The time of the last successful answer, which extended the session. */
export function lastAnsweredAt(): number {
  return answeredAt
}

export async function call<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  signal?: AbortSignal,
): Promise<Data<Name>> {
  const { body, ...rest } = input as AnyInput
  const [method = 'GET', path = ''] = endpoints[name].split(' ')
  const response = await fetch(urlOf(path, rest), {
    method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
    body: body ? JSON.stringify(body) : null,
    signal: signal ?? null,
  }).catch(throwNoResponse)
  const envelope = (await response.json().catch(() => null)) as Envelope | null
  if (response.ok && envelope?.success) {
    answeredAt = Date.now()
    return envelope.data as Data<Name>
  }
  // A wrong password gets the same status as an ended session.
  throw refusalOf(response, envelope, name !== 'signIn')
}

function throwNoResponse(error: Error): never {
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

/** A CSV file with the name that the service gives it. */
export async function readFile(name: ExportName, input: RequestPath): Promise<{ name: string; content: Blob }> {
  const response = await fetch(urlOf(exports[name], input), { credentials: 'same-origin' }).catch(throwNoResponse)
  if (!response.ok) throw refusalOf(response, (await response.json().catch(() => null)) as Envelope | null)
  answeredAt = Date.now()
  const named = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')
  return { name: named?.[1] ?? `${name}.csv`, content: await response.blob().catch(throwNoResponse) }
}

function urlOf(path: string, { params = {}, query = {} }: RequestPath): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter((each): each is [string, string] => !!each[1])
  return `${apiPath}${filled}${given.length ? `?${new URLSearchParams(given)}` : ''}`
}
