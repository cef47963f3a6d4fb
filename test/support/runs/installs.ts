// A test that passes, and calls every program that changes the machine.
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { refusedPrograms } from '../refused-programs.ts'

test('a program is called', () => {
  for (const name of refusedPrograms) spawnSync(name, ['install', 'it'])
})
