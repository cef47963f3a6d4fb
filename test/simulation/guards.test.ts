// Every guard can be broken: its statements, fragments and exports are there by their names, and their broken forms differ.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { breakGuards } from '../../proof/guards/apply.ts'
import { type Change, exported, guard, replaced } from '../../proof/guards/guard.ts'
import { guards } from '../../proof/guards/guards.ts'

test('every guard is broken by names that exist, and PostgreSQL accepts what its statements become', async () => {
  const changes = Object.values(guards).flatMap((guard) => guard.changes)
  const namesOf = (kind: Change['of']) => changes.filter(({ of }) => of === kind).map(({ name }) => name)
  // Before the first source is imported. Guards of one export are broken one after the other.
  const finish = breakGuards(Object.values(guards))
  const { createTestDatabase } = await import('../support/database/database.ts')
  const { allStatements } = await import('../support/written/statements.ts')
  const intact = await allStatements()
  for (const file of globSync('src/**/*.ts')) {
    const source = readFileSync(file, 'utf8')
    if (namesOf('export').some((name) => new RegExp(`^export .*\\b${name}\\b`, 'm').test(source)))
      await import(`../../${file}`)
  }
  await finish()
  const broken = new Map([...(await allStatements())].filter(([name, text]) => text !== intact.get(name)))
  assert.deepEqual(
    namesOf('statement').filter((name) => !broken.has(name)),
    [],
  )
  await using parts = new AsyncDisposableStack()
  const database = await createTestDatabase()
  parts.defer(() => database.drop())
  for (const [name, text] of broken) {
    await database.pool.query(`explain (generic_plan) ${text}`).catch((error) => assert.fail(`${name}: ${error}`))
  }
})

test('a guard whose names do not exist, or whose clause is not there once, cannot be broken', async () => {
  assert.equal(replaced('a b', 'c')('x a\n  b y'), 'x c y')
  assert.throws(() => replaced('a', 'b')('a and a'), /does not have "a" once/)
  const unknown = guard('', '', [exported('noSuchName', () => 1)])
  await assert.rejects(breakGuards([unknown])(), /no source exports noSuchName/)
})
