// Parses the answers of a connection strictly: status line, headers, a Content-Length, a body of that length, and
// again. Anything else is a fault with a name; only whether an uncertain request was a HEAD is guessed. Its own parser
// on purpose: it is an oracle.

export type Answer = {
  status: number
  /** All values by lower-case name. */
  headers: Map<string, string[]>
  /** Null where the request was a HEAD. */
  body: Buffer | null
}

export type Reading = {
  answers: Answer[]
  /** Why the bytes after the last answer are not an answer. */
  fault: string | undefined
  /** The last answer is incomplete. */
  isCut: boolean
}

export type ReadingOptions = {
  /** Of the request at that place; undefined where it is uncertain. */
  isHead(place: number): boolean | undefined
  /** Whether a request may have sent Expect: 100-continue. */
  mayContinue: boolean
}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/
const headerLine = /^([!#$%&'*+.^_`|~\w-]+): ?([\x20-\x7e]*)$/

export function readAnswers(received: Buffer, { isHead, mayContinue }: ReadingOptions): Reading {
  const answers: Answer[] = []
  let rest = received
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n')
    if (headEnd < 0) return { answers, fault: faultOfBeginning(rest), isCut: true }
    const head = readHead(rest.subarray(0, headEnd).toString('latin1'))
    if (typeof head === 'string') return { answers, fault: head, isCut: false }
    rest = rest.subarray(headEnd + 4)
    if (head.status === 100 && mayContinue) continue
    const length = lengthOf(head)
    if (typeof length === 'string') return { answers, fault: length, isCut: false }
    if (isHead(answers.length) ?? looksBodiless(rest)) {
      answers.push({ ...head, body: null })
      continue
    }
    if (rest.length < length) return { answers, fault: undefined, isCut: true }
    answers.push({ ...head, body: rest.subarray(0, length) })
    rest = rest.subarray(length)
  }
  return { answers, fault: undefined, isCut: false }
}

/** The bytes cannot become an answer any more. */
function faultOfBeginning(rest: Buffer): string | undefined {
  const wanted = 'HTTP/1.1 '
  const begun = rest.subarray(0, wanted.length).toString('latin1')
  return wanted.startsWith(begun) || begun === wanted ? undefined : `not an answer: ${JSON.stringify(begun)}`
}

/** Where it is uncertain: a head that is followed by nothing or by the next head had no body. */
function looksBodiless(rest: Buffer): boolean {
  return rest.length === 0 || rest.subarray(0, 9).toString('latin1') === 'HTTP/1.1 '
}

function readHead(text: string): Omit<Answer, 'body'> | string {
  const [first = '', ...lines] = text.split('\r\n')
  const [, status] = statusLine.exec(first) ?? []
  if (!status) return `no status line: ${JSON.stringify(first)}`
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const [, name, value = ''] = headerLine.exec(line) ?? []
    if (!name) return `no header: ${JSON.stringify(line)}`
    const lower = name.toLowerCase()
    headers.set(lower, [...(headers.get(lower) ?? []), value])
  }
  return { status: Number(status), headers }
}

function lengthOf({ status, headers }: Omit<Answer, 'body'>): number | string {
  if (status < 200) return `an interim answer without Expect: ${status}`
  const lengths = headers.get('content-length') ?? []
  if (headers.has('transfer-encoding')) return 'a Transfer-Encoding'
  if (lengths.length !== 1 || !/^\d+$/.test(lengths[0] ?? '')) return `Content-Length: ${JSON.stringify(lengths)}`
  return Number(lengths[0])
}

/** It is the last on its connection. */
export function closes({ headers }: Answer): boolean {
  return headers.get('connection')?.some((value) => value.toLowerCase() === 'close') ?? false
}

type Document = Record<string, unknown> | undefined

const documents = new WeakMap<Answer, { document: Document }>()

/** Undefined where it is not a JSON object. Cached, because many oracles read it. */
export function bodyOf(answer: Answer): Document {
  const known = documents.get(answer)
  if (known) return known.document
  const document = parse(answer.body)
  documents.set(answer, { document })
  return document
}

function parse(body: Buffer | null): Document {
  try {
    const document: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body ?? undefined))
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
    return isObject ? (document as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
