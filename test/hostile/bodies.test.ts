// Rows 6 and 7 of the decisions as raw bytes: bodies that are not a JSON object, or one that no normal client writes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendRaw } from '../../harness/raw-http.ts'
import { notificationsOf, startTestWebhooks, webhookToken } from '../support/gateway/webhooks.ts'
import { type Code, type HostileRow, hostileTests, hostileWorld, written } from '../support/hostile.ts'

const world = hostileWorld()
const good = '{"packageType":"BASIC"}'
const withExtra = (json: string) => `{"packageType":"BASIC","extra":${json}}`
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const deepObjects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
/** The text with the star replaced by these bytes. */
function around(text: string, bytes: number[]): Buffer {
  const [start = '', end = ''] = text.split('*')
  return Buffer.concat([Buffer.from(start), Buffer.from(bytes), Buffer.from(end)])
}

const bodies: [what: string, code: Code, body: string | Buffer][] = [
  ['an empty body', 'VAL001', ''],
  ['a body of whitespace', 'VAL001', ' \r\n\t'],
  ['half an object', 'VAL001', '{'],
  ['a trailing comma', 'VAL001', '{"packageType":"BASIC",}'],
  ['single quotes', 'VAL001', "{'packageType':'BASIC'}"],
  ['a name without quotes', 'VAL001', '{packageType:"BASIC"}'],
  ['a comment after the document', 'VAL001', `${good}// comment`],
  ['a comment inside the document', 'VAL001', '{/* comment */"packageType":"BASIC"}'],
  ['undefined', 'VAL001', 'undefined'],
  ['undefined as a value', 'VAL001', '{"packageType":undefined}'],
  ['two documents', 'VAL001', good + good],
  ['two documents on two lines', 'VAL001', `${good}\n${good}`],
  ['null', 'VAL001', 'null'],
  ['an array', 'VAL001', '[]'],
  ['an array with the object', 'VAL001', `[${good}]`],
  ['a string', 'VAL001', '"BASIC"'],
  ['a number', 'VAL001', '5'],
  ['true', 'VAL001', 'true'],
  ['an empty object', 'VAL002', '{}'],
  ['a byte order mark before the object', 'SUCCESS', `\ufeff${good}`],
  ['two byte order marks', 'VAL001', `\ufeff\ufeff${good}`],
  ['a byte order mark after the object', 'VAL001', `${good}\ufeff`],
  ['bytes that are not UTF-8 in a string', 'VAL001', around(withExtra('"*"'), [0xff, 0xfe])],
  ['an overlong UTF-8 sequence in a string', 'VAL001', around(withExtra('"*"'), [0xc0, 0xaf])],
  ['half a surrogate pair in UTF-8', 'VAL001', around(withExtra('"*"'), [0xed, 0xa0, 0x80])],
  ['an incomplete character', 'VAL001', around(withExtra('"*"'), [0xf0, 0x9f, 0x92])],
  ['bytes that are not UTF-8 between tokens', 'VAL001', around('{*"packageType":"BASIC"}', [0xff])],
  ['UTF-16', 'VAL001', Buffer.from(good, 'utf16le')],
  ['UTF-16 with its byte order mark', 'VAL001', Buffer.from(`\ufeff${good}`, 'utf16le')],
  ['NUL between tokens', 'VAL001', around('{*"packageType":"BASIC"}', [0])],
  ['NUL after the document', 'VAL001', `${good}\0`],
  ['NUL inside a string', 'VAL001', around('{"packageType":"BASIC*"}', [0])],
  ['a line break inside a string', 'VAL001', '{"packageType":"BAS\nIC"}'],
  ['an escaped NUL in packageType', 'VAL003', '{"packageType":"BASIC\\u0000"}'],
  ['an escaped NUL in paymentMethod', 'VAL003', '{"packageType":"BASIC","paymentMethod":"CARD\\u0000"}'],
  ['an escaped NUL in an unknown field', 'SUCCESS', withExtra('"a\\u0000b"')],
  ['half a surrogate pair in an unknown field', 'SUCCESS', withExtra('"\\ud800"')],
  ['a lone surrogate in packageType', 'VAL003', '{"packageType":"\\ud800"}'],
  ['a name twice', 'VAL001', '{"packageType":"BASIC","packageType":"PRO"}'],
  ['a name twice with the same value', 'VAL001', '{"packageType":"BASIC","packageType":"BASIC"}'],
  ['a name twice, once escaped', 'VAL001', '{"packageType":"BASIC","\\u0070ackageType":"PRO"}'],
  ['a name twice, once with null', 'VAL001', '{"packageType":null,"packageType":"BASIC"}'],
  ['a name twice in an unknown field', 'VAL001', withExtra('{"a":1,"b":{"c":2},"a":3}')],
  ['equal names in different objects', 'SUCCESS', withExtra('{"packageType":{"packageType":[{"a":1},{"a":2}]}}')],
  ['the key __proto__', 'VAL001', '{"packageType":"BASIC","__proto__":{"polluted":1}}'],
  ['the key __proto__ escaped', 'VAL001', '{"packageType":"BASIC","\\u005f_proto__":{"polluted":1}}'],
  ['the key __proto__ escaped throughout', 'VAL001', withExtra(`{"${escaped('__proto__')}":{"polluted":1}}`)],
  ['the key __proto__ further down', 'VAL001', withExtra('[{"__proto__":{"polluted":1}}]')],
  ['constructor.prototype', 'VAL001', '{"packageType":"BASIC","constructor":{"prototype":{"polluted":1}}}'],
  [
    'constructor.prototype escaped',
    'VAL001',
    `{"packageType":"BASIC","${escaped('constructor')}":{"${escaped('prototype')}":{"polluted":1}}}`,
  ],
  ['the key __proto__ alone', 'VAL001', '{"__proto__":{"packageType":"BASIC"}}'],
  ['32 levels', 'SUCCESS', withExtra(deep(31))],
  ['33 levels', 'VAL001', withExtra(deep(32))],
  ['33 levels of objects', 'VAL001', withExtra(deepObjects(32))],
  ['5,000 levels', 'VAL001', withExtra(deep(5_000))],
  ['8,000 levels', 'VAL001', withExtra(deep(8_000))],
  ['2,000 levels of objects', 'VAL001', withExtra(deepObjects(2_000))],
  ['8,000 unclosed brackets', 'VAL001', `{"packageType":"BASIC","extra":${'['.repeat(8_000)}`],
  ['100,000 levels', 'VAL004', withExtra(deep(100_000))],
  ['100,000 names', 'VAL004', namesOf(100_000)],
  ['as many names as fit into the size limit', 'VAL002', namesOf(1_400)],
  ['one name of 16 KB', 'VAL002', `{"${'n'.repeat(16_300)}":1}`],
  ['one number of 16 KB', 'SUCCESS', withExtra('9'.repeat(16_300))],
]

function escaped(text: string): string {
  return [...text].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

function namesOf(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, place) => [`n${place}`, place])))
}

function rowOf([what, code, body]: (typeof bodies)[number]): HostileRow {
  return {
    what,
    code,
    request: () => world.post('/purchase', body),
    closes: code === 'VAL001',
    ...(code === 'SUCCESS' && { status: 201 as const, writes: written.purchase }),
    also: () => assert.equal(Reflect.get({}, 'polluted'), undefined),
  }
}
hostileTests(world, bodies.map(rowOf))

const order = 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV0123456789'
const elsewhere: [what: string, code: Code, path: string, body: string][] = [
  ['no body for a confirm', 'VAL001', '/confirm', ''],
  ['no body for a cancel', 'VAL001', '/cancel', ''],
  ['an array for a confirm', 'VAL001', '/confirm', `[{"orderId":"${order}","paymentKey":"k","amount":1}]`],
  ['an amount twice', 'VAL001', '/confirm', `{"orderId":"${order}","paymentKey":"k","amount":1,"amount":2}`],
  ['a paymentKey twice', 'VAL001', '/cancel', '{"paymentKey":"one","reason":"r","paymentKey":"other"}'],
  ['40 levels in a cancel', 'VAL001', '/cancel', `{"paymentKey":"k","reason":"r","extra":${deep(40)}}`],
  ['an empty object for a confirm', 'VAL002', '/confirm', '{}'],
  ['an empty object for a cancel', 'VAL002', '/cancel', '{}'],
  [
    'a lone surrogate in a paymentKey',
    'VAL003',
    '/confirm',
    `{"orderId":"${order}","paymentKey":"\\ud800","amount":1}`,
  ],
  [
    'an escaped NUL in a paymentKey',
    'VAL003',
    '/confirm',
    `{"orderId":"${order}","paymentKey":"a\\u0000b","amount":1}`,
  ],
  ['an escaped NUL in an orderId', 'NOT000', '/confirm', '{"orderId":"a\\u0000b","paymentKey":"k","amount":1}'],
  ['an escaped NUL in a reason', 'VAL003', '/cancel', '{"paymentKey":"k","reason":"a\\u0000b"}'],
  ['a lone surrogate in a reason', 'VAL003', '/cancel', '{"paymentKey":"k","reason":"a\\udfff"}'],
]
hostileTests(
  world,
  elsewhere.map(([what, code, path, body]) => ({
    what,
    code,
    request: () => world.post(path, body),
    closes: code === 'VAL001',
  })),
)

test('a notification of 5,000 levels is VAL001 and not stored, with and without a transmission id', async () => {
  const webhooks = await startTestWebhooks(world.service)
  try {
    const body = `{"eventType":"PAYMENT_STATUS_CHANGED","data":${deep(5_000)}}`
    const start = `POST /webhooks/toss/${webhookToken} HTTP/1.1\r\nhost: service\r\ncontent-type: application/json`
    for (const number of ['', '\r\ntosspayments-webhook-transmission-id: t_deep']) {
      const request = `${start}${number}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      const answer = await sendRaw(Number(new URL(webhooks.url).port), request)
      assert.deepEqual([answer.status, answer.body.code], [400, 'VAL001'])
    }
    assert.deepEqual(await notificationsOf(world.service), [])
  } finally {
    await webhooks.close()
  }
})
