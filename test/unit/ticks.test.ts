// The ticks of the charts: round, whole, few, around every value, and with short labels that are exact.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { niceTicks } from '../../console/src/parts/charts/ticks.ts'
import { forSeeds } from '../../harness/random.ts'

test('ticks begin at 0, or below the lowest value, and end at the highest one or above it', () => {
  assert.deepEqual(niceTicks([]), [0, 1])
  assert.deepEqual(niceTicks([3]), [0, 1, 2, 3])
  assert.deepEqual(niceTicks([2_250]), [0, 1_000, 2_000, 3_000])
  assert.deepEqual(niceTicks([1_650_000, 20_000]), [0, 500_000, 1_000_000, 1_500_000, 2_000_000])
  assert.deepEqual(niceTicks([-20_000, 100_000]), [-50_000, 0, 50_000, 100_000])
})

test('each is whole, and its label of two decimals is what it is', async () => {
  const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })
  const units: Record<string, number> = { K: 1e3, M: 1e6, B: 1e9, T: 1e12 }
  const numberOf = (label: string) => Number.parseFloat(label) * (units[label.slice(-1)] ?? 1)
  await forSeeds(300, async (random) => {
    const ticks = niceTicks([random.integer(0, 10 ** random.integer(0, 12)), -random.integer(0, 1000)])
    assert.ok(ticks.length <= 7 && ticks.every(Number.isInteger), `${ticks}`)
    for (const tick of ticks)
      assert.ok(Math.abs(numberOf(compact.format(tick)) - tick) < 1e-6 * Math.abs(tick) + 1e-9, `${tick}`)
  })
})
