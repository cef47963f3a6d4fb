// Several requests on one connection, followed by bytes that are not a request. The earlier requests are answered
// completely, once and in order, whatever follows: completed work is reported as completed.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { answersUntilClosed, openSocket, parseAnswers, type RawAnswer, readToEnd } from '../../harness/raw-http.ts'
import { assertAnswer, hostileWorld, type Written, written } from '../support/hostile.ts'

const good = '{"packageType":"BASIC"}'
let orderIds: string[]
const world = hostileWorld({}, async () => {
  const purchases = await Promise.all(Array.from({ length: 10 }, () => world.customer.purchase('BASIC')))
  orderIds = purchases.map(({ body }) => body.data.orderId)
})
afterEach(() => world.service.sandbox.clearFaults())

const notHttp: Buffer = Buffer.from('this is no request\r\n\r\n')
const codesOf = (answers: RawAnswer[]) => answers.map(({ body }) => body.code)
const purchase = () => world.post('/purchase', good)

/** A confirm of a paid order, with a slow gateway. */
async function slowConfirm(delayMs: number): Promise<Buffer> {
  const { orderId, paymentKey, amount } = await world.customer.paidOrder('BASIC')
  await world.service.sandbox.setFaults([{ on: 'confirm', kind: 'delay', times: 1, delayMs }])
  return world.post('/confirm', JSON.stringify({ orderId, paymentKey, amount }))
}

async function cancelOfConfirmed(): Promise<Buffer> {
  const { paymentKey } = await world.customer.confirmedOrder('BASIC')
  return world.post('/cancel', JSON.stringify({ paymentKey, reason: 'and junk after it' }))
}

/** Sends the pieces one by one, and returns every answer until the connection is closed. */
async function sendPieces(pieces: Buffer[], pauseMs: number): Promise<RawAnswer[]> {
  const socket: Socket = await openSocket(world.service.port)
  const closed = readToEnd(socket)
  for (const piece of pieces) {
    socket.write(piece)
    await sleep(pauseMs)
  }
  return parseAnswers(await closed)
}

const junk: [what: string, bytes: () => Buffer][] = [
  ['words', () => notHttp],
  ['NULs', () => Buffer.alloc(100)],
  ['a TLS hello', () => Buffer.from('16030100a5010000a10303', 'hex')],
  ['another document', () => Buffer.from(good)],
  ['a header that is too long', () => world.get('/credits', [`x: ${'y'.repeat(20_000)}`])],
  ['a request with two lengths', () => world.post('/purchase', good, { lines: ['content-length: 5'] })],
  ['an unknown method', () => Buffer.from('FOO / HTTP/1.1\r\nhost: x\r\n\r\n')],
]

const works: [what: string, request: () => Promise<Buffer>, status: number, writes: Written][] = [
  ['a purchase', async () => purchase(), 201, written.purchase],
  ['a confirm', () => slowConfirm(100), 200, written.confirm],
  ['a cancel', cancelOfConfirmed, 200, written.cancel],
]
for (const [work, request, status, writes] of works) {
  for (const [what, bytes] of junk) {
    test(`${work} followed by ${what} is answered with ${status}, once, and the connection closes`, async () => {
      const sent = Buffer.concat([await request(), bytes()])
      const { wrote, result } = await world.observe(() => answersUntilClosed(world.service.port, sent))
      const [answer, ...more] = result
      assert.ok(answer)
      assertAnswer({ ...answer, rest: '' }, 'SUCCESS', status)
      assert.deepEqual([codesOf(more), wrote], [[], writes])
      await world.assertHealthy()
    })
  }
}

test('junk that arrives while a confirm is in progress does not suppress its answer', async () => {
  const confirm = await slowConfirm(300)
  const { wrote, result } = await world.observe(() => sendPieces([confirm, notHttp, notHttp], 50))
  assert.deepEqual([codesOf(result), wrote], [['SUCCESS'], written.confirm])
  await world.assertHealthy()
})

test('junk that arrives after the answer gets its own VAL001', async () => {
  const answers = await sendPieces([world.get('/packages'), notHttp], 500)
  assert.deepEqual(codesOf(answers), ['SUCCESS', 'VAL001'])
})

/** At odd places the packages, which are answered at once; at even ones an order, which is read from the database. */
function pipelined(place: number): Buffer {
  return place % 2 ? world.get('/packages') : world.get(`/${orderIds[place % 10]}`)
}

function assertInOrder(answers: RawAnswer[]): void {
  for (const [index, { body }] of answers.entries()) {
    const place = index + 1
    assert.equal(body.code, 'SUCCESS')
    if (place % 2) assert.equal(Array.isArray(body.data), true, `place ${place}`)
    else assert.equal(body.data.orderId, orderIds[place % 10], `place ${place}`)
  }
}

for (const bad of [1, 50, 100]) {
  test(`with 100 pipelined requests and an unreadable one at place ${bad}, those before it are answered in order, each once`, async () => {
    const places = Array.from({ length: 100 }, (_, index) => index + 1)
    const sent = Buffer.concat(places.map((place) => (place === bad ? notHttp : pipelined(place))))
    const { wrote, result } = await world.observe(() => answersUntilClosed(world.service.port, sent))
    const before = result.slice(0, bad - 1)
    assert.equal(before.length, bad - 1)
    assertInOrder(before)
    // If answers were still pending, the unreadable request only gets the close.
    assert.deepEqual(codesOf(result.slice(bad - 1)), bad === 1 ? ['VAL001'] : [])
    assert.deepEqual(wrote, written.nothing)
    await world.assertHealthy()
  })
}

test('with 100 pipelined requests, some of them refused, all are answered in order', async () => {
  const wrong: [place: number, code: string, request: () => Buffer][] = [
    [1, 'VAL003', () => world.post('/purchase', '{"packageType":"NONE"}')],
    [33, 'NOT000', () => world.get('/unknown')],
    [50, 'INVALID_API_KEY', () => world.post('/purchase', good, { key: null })],
    [77, 'VAL004', () => world.post('/purchase', good.padEnd(17_000))],
    [100, 'VAL002', () => world.post('/purchase', '{}')],
  ]
  const places = Array.from({ length: 100 }, (_, index) => index + 1)
  const requestAt = (place: number) => wrong.find(([each]) => each === place)?.[2]() ?? pipelined(place)
  const socket = await openSocket(world.service.port)
  const closed = readToEnd(socket)
  socket.write(Buffer.concat([...places.map(requestAt), world.get('/credits', ['connection: close'])]))
  const answers = parseAnswers(await closed)
  assert.equal(answers.length, 101)
  for (const [place, code] of wrong) assert.equal(answers[place - 1]?.body.code, code)
  const codes = new Map(wrong.map(([place, code]) => [place, code]))
  for (const place of places) assert.equal(answers[place - 1]?.body.code, codes.get(place) ?? 'SUCCESS')
})

test('a request with an unknown Expect header waits for the confirm before it and is VAL001', async () => {
  const confirm = await slowConfirm(300)
  const expecting = world.post('/purchase', good, { lines: ['expect: foo'] })
  const sent = Buffer.concat([confirm, expecting])
  const { wrote, result } = await world.observe(() => answersUntilClosed(world.service.port, sent))
  assert.deepEqual([codesOf(result), wrote], [['SUCCESS', 'VAL001'], written.confirm])
  assert.deepEqual(
    result.map(({ status }) => status),
    [200, 400],
  )
  await world.assertHealthy()
})

test('CONNECT after a confirm does not suppress its answer', async () => {
  const connect = Buffer.from('CONNECT elsewhere:443 HTTP/1.1\r\nhost: x\r\n\r\n')
  const sent = Buffer.concat([await slowConfirm(100), connect])
  const { wrote, result } = await world.observe(() => answersUntilClosed(world.service.port, sent))
  assert.deepEqual([codesOf(result), wrote], [['SUCCESS'], written.confirm])
})

/** The Content-Length ends inside the document: the bytes after it are not handled as a request. */
const rests: [what: string, rest: () => Buffer][] = [
  ['the rest of the document', () => Buffer.from('kageType":"BASIC"}')],
  ['another purchase', () => purchase()],
  ['a line break and another purchase', () => Buffer.concat([Buffer.from('\r\n'), purchase()])],
]
for (const [what, rest] of rests) {
  test(`a document cut by its Content-Length is VAL001, and ${what} after it is not handled as a request`, async () => {
    const sent = Buffer.concat([world.post('/purchase', '{"pac'), rest()])
    const { wrote, result } = await world.observe(async () => {
      const answers = await answersUntilClosed(world.service.port, sent)
      // A request handled after it would be finished by then.
      await sleep(200)
      return answers
    })
    assert.deepEqual([codesOf(result), wrote], [['VAL001'], written.nothing])
    await world.assertHealthy()
  })
}
