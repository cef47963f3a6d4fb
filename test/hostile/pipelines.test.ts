// Several requests on one connection, and bytes that are none behind them. What came before is answered whole, once and in
// its order, whatever follows: work that was done is told as done.
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

const noTell: Buffer = Buffer.from('this is no request\r\n\r\n')
const codesOf = (answers: RawAnswer[]) => answers.map(({ body }) => body.code)
const purchase = () => world.post('/purchase', good)

/** A confirm of an order that was paid, at a gateway that takes its time. */
async function slowConfirm(delayMs: number): Promise<Buffer> {
  const { orderId, paymentKey, amount } = await world.customer.paidOrder('BASIC')
  await world.service.sandbox.setFaults([{ on: 'confirm', kind: 'delay', times: 1, delayMs }])
  return world.post('/confirm', JSON.stringify({ orderId, paymentKey, amount }))
}

async function cancelOfConfirmed(): Promise<Buffer> {
  const { paymentKey } = await world.customer.confirmedOrder('BASIC')
  return world.post('/cancel', JSON.stringify({ paymentKey, reason: 'and junk behind it' }))
}

/** Sends the pieces one by one, and gives every answer until the connection is closed. */
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
  ['words', () => noTell],
  ['NULs', () => Buffer.alloc(100)],
  ['a TLS hello', () => Buffer.from('16030100a5010000a10303', 'hex')],
  ['another document', () => Buffer.from(good)],
  ['a header that is too long', () => world.get('/credits', [`x: ${'y'.repeat(20_000)}`])],
  ['a request with two lengths', () => world.post('/purchase', good, { lines: ['content-length: 5'] })],
  ['a method that nobody knows', () => Buffer.from('FOO / HTTP/1.1\r\nhost: x\r\n\r\n')],
]

const works: [what: string, request: () => Promise<Buffer>, status: number, writes: Written][] = [
  ['a purchase', async () => purchase(), 201, written.purchase],
  ['a confirm', () => slowConfirm(100), 200, written.confirm],
  ['a cancel', cancelOfConfirmed, 200, written.cancel],
]
for (const [work, request, status, writes] of works) {
  for (const [what, bytes] of junk) {
    test(`${work} with ${what} behind it is answered with ${status}, once, and the connection closes`, async () => {
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

test('junk that arrives while a confirm is under way does not take its answer away', async () => {
  const confirm = await slowConfirm(300)
  const { wrote, result } = await world.observe(() => sendPieces([confirm, noTell, noTell], 50))
  assert.deepEqual([codesOf(result), wrote], [['SUCCESS'], written.confirm])
  await world.assertHealthy()
})

test('junk that arrives after the answer is VAL001 of its own', async () => {
  const answers = await sendPieces([world.get('/packages'), noTell], 500)
  assert.deepEqual(codesOf(answers), ['SUCCESS', 'VAL001'])
})

/** At odd places the packages, which are answered at once; at even ones an order, for which the database is asked. */
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
  test(`of 100 requests at once with an unreadable one at place ${bad}, those before it are answered in order, each once`, async () => {
    const places = Array.from({ length: 100 }, (_, index) => index + 1)
    const sent = Buffer.concat(places.map((place) => (place === bad ? noTell : pipelined(place))))
    const { wrote, result } = await world.observe(() => answersUntilClosed(world.service.port, sent))
    const before = result.slice(0, bad - 1)
    assert.equal(before.length, bad - 1)
    assertInOrder(before)
    // Where something was still due, the close is all the answer that it has.
    assert.deepEqual(codesOf(result.slice(bad - 1)), bad === 1 ? ['VAL001'] : [])
    assert.deepEqual(wrote, written.nothing)
    await world.assertHealthy()
  })
}

test('of 100 requests at once with refused ones among them, all are answered in order', async () => {
  const wrong: [place: number, code: string, request: () => Buffer][] = [
    [1, 'VAL003', () => world.post('/purchase', '{"packageType":"NONE"}')],
    [33, 'NOT000', () => world.get('/nobodys')],
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

test('an expectation that nobody knows waits for its turn behind a confirm and is VAL001', async () => {
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

test('CONNECT behind a confirm does not take its answer away', async () => {
  const connect = Buffer.from('CONNECT elsewhere:443 HTTP/1.1\r\nhost: x\r\n\r\n')
  const sent = Buffer.concat([await slowConfirm(100), connect])
  const { wrote, result } = await world.observe(() => answersUntilClosed(world.service.port, sent))
  assert.deepEqual([codesOf(result), wrote], [['SUCCESS'], written.confirm])
})

/** The announced length ends inside the document: what follows is not a request, whatever it looks like. */
const rests: [what: string, rest: () => Buffer][] = [
  ['the rest of the document', () => Buffer.from('kageType":"BASIC"}')],
  ['another purchase', () => purchase()],
  ['a line break and another purchase', () => Buffer.concat([Buffer.from('\r\n'), purchase()])],
]
for (const [what, rest] of rests) {
  test(`a document cut by its length is VAL001, and ${what} behind it is no request`, async () => {
    const sent = Buffer.concat([world.post('/purchase', '{"pac'), rest()])
    const { wrote, result } = await world.observe(async () => {
      const answers = await answersUntilClosed(world.service.port, sent)
      // What was begun behind it would be done by then.
      await sleep(200)
      return answers
    })
    assert.deepEqual([codesOf(result), wrote], [['VAL001'], written.nothing])
    await world.assertHealthy()
  })
}
