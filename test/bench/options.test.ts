// The command line of the measurements: each takes its own options, with its own defaults.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Options, readOptions, type Takes } from '../../bench/options.ts'
import { overloaded } from '../../bench/overload/report.ts'
import { WrongArguments } from '../../harness/options.ts'

const measurements: Record<string, Takes> = {
  workloads: { options: ['seconds', 'rounds', 'connections', 'workloads', 'no-pgbench'] },
  soak: { options: ['minutes'], usually: { minutes: '8' } },
  overload: { options: ['seconds', 'workloads'], can: overloaded },
}

const read: { args: string[]; expected: Partial<Options> }[] = [
  { args: [], expected: { measurement: 'workloads', seconds: 3, rounds: 3, connections: [1, 64, 256], pgbench: true } },
  {
    args: [
      '--connections',
      '64, 1,64',
      '--workloads',
      'spend on one customer,balance',
      '--no-pgbench',
      '--out',
      'here',
    ],
    expected: { connections: [64, 1], workloads: ['spend on one customer', 'balance'], pgbench: false, out: 'here' },
  },
  { args: ['soak'], expected: { minutes: 8 } },
  { args: ['soak', '--minutes', '7'], expected: { minutes: 7 } },
  { args: ['overload'], expected: { workloads: [...overloaded] } },
]
for (const { args, expected } of read) {
  test(`arguments are read: ${args.join(' ')}`, () => {
    assert.partialDeepStrictEqual(readOptions(args, measurements), expected)
  })
}

for (const { args, line } of [
  { args: ['dance'], line: /^what to measure: expected one of workloads, soak, overload, got "dance"$/ },
  { args: ['soak', 'workloads'], line: /^one measurement at a time, got "soak workloads"$/ },
  { args: ['soak', '--seconds', '2'], line: /^--seconds: soak does not take it$/ },
  { args: ['soak', '--minutes', '0'], line: /^--minutes: expected a whole number from 1 to 1440, got "0"$/ },
  { args: ['--minutes', '2'], line: /^--minutes: workloads does not take it$/ },
  { args: ['--rounds', 'many'], line: /^--rounds: expected a whole number from 1 to 100, got "many"$/ },
  { args: ['--connections', '1,,64'], line: /^--connections: expected a whole number from 1 to 1024, got ""$/ },
  { args: ['overload', '--workloads', 'status'], line: /^--workloads: expected one of balance, purchase, mixed day, / },
  { args: ['--fast'], line: /^Unknown option '--fast'/ },
]) {
  test(`wrong arguments are reported in one line and the usage: ${args.join(' ')}`, () => {
    assert.throws(
      () => readOptions(args, measurements),
      (error) => {
        assert.ok(error instanceof WrongArguments)
        const [first = '', second = '', ...more] = error.message.split('\n')
        assert.match(first, line)
        assert.match(second, /^npm run bench -- \[workloads\|soak\|overload\] .*; soak: --minutes 8; /)
        return more.length === 0
      },
    )
  })
}
