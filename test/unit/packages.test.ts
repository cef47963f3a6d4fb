// Section 2: the exact catalogue.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packageOf, packages, packageTypes, paymentMethod } from '../../src/payments/packages.ts'

const specified = [
  {
    packageType: 'BASIC',
    credits: 1,
    price: 1000,
    displayName: 'Basic Plan - 1 Credit',
    description: '1 credit(s) for \u20a91,000',
    bonusPercentage: 0,
    bonusCredits: 0,
  },
  {
    packageType: 'STANDARD',
    credits: 21,
    price: 20000,
    displayName: 'Standard Plan - 21 Credits',
    description: '21 credit(s) for \u20a920,000',
    bonusPercentage: 5,
    bonusCredits: 1,
  },
  {
    packageType: 'PRO',
    credits: 110,
    price: 100000,
    displayName: 'Pro Plan - 110 Credits',
    description: '110 credit(s) for \u20a9100,000',
    bonusPercentage: 10,
    bonusCredits: 10,
  },
]

test('2: the catalogue is the table of the specification, in the order BASIC, STANDARD, PRO', () => {
  assert.deepEqual(packages, specified)
  assert.deepEqual(packageTypes, ['BASIC', 'STANDARD', 'PRO'])
})

test('2: every figure is a whole number', () => {
  for (const { credits, price, bonusPercentage, bonusCredits } of packages) {
    for (const figure of [credits, price, bonusPercentage, bonusCredits]) assert.ok(Number.isSafeInteger(figure))
  }
})

test('2: a package is found by its type', () => {
  for (const each of packages) assert.equal(packageOf(each.packageType), each)
})

test('1: the only payment method is CARD', () => assert.equal(paymentMethod, 'CARD'))
