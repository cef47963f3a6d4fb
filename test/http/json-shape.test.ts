// The shape of JSON that is accepted: no duplicate names, limited depth.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPlain } from '../../src/http/input/json-shape.ts'

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

const plain: [name: string, text: string][] = [
  ['an empty object', '{}'],
  ['equal names in objects beside each other', '{"a":{"x":1},"b":{"x":1}}'],
  ['equal names in objects inside each other', '{"a":{"a":{"a":1}}}'],
  ['equal names in the objects of an array', '[{"a":1},{"a":2}]'],
  ['a value that equals a name', '{"a":"a","b":"a"}'],
  ['a value that looks like a document', String.raw`{"a":"{\"b\":1,\"b\":2}","b":"[[[["}`],
  ['names that differ by case', '{"a":1,"A":2}'],
  ['quotation marks and backslashes in strings', String.raw`{"a\\":"\\\"","a":"\\"}`],
  ['whitespace everywhere', ' {\t"a" \n:\r 1 , "b" : [ "a" , "a" ] } '],
  ['thirty-two levels', deep(32)],
  ['the name of an inherited property', '{"toString":1,"constructor":2}'],
]

for (const [name, text] of plain) {
  test(`plain: ${name}`, () => {
    assert.equal(isPlain(text, JSON.parse(text)), true)
  })
}

const notPlain: [name: string, text: string][] = [
  ['a name twice', '{"a":1,"a":1}'],
  ['a name twice with something between', '{"a":1,"b":{"c":[1,{"d":2}]},"a":2}'],
  ['a name twice, once written with an escape', String.raw`{"amount":1,"\u0061mount":2}`],
  ['a name twice with spaces before the colon', '{"a" :1,"a"\t: 2}'],
  ['a name twice deep inside', '{"a":[[{"b":{"c":1,"c":2}}]]}'],
  ['a name twice, the first with names inside', '{"a":{"x":1,"y":2},"a":3}'],
  ['an empty name twice', '{"":1,"":2}'],
  ['thirty-three levels', deep(33)],
  ['thirty-three levels of objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['a great depth', deep(100_000)],
]

for (const [name, text] of notPlain) {
  test(`not plain: ${name}`, () => {
    assert.equal(isPlain(text, JSON.parse(text)), false)
  })
}
