#!/usr/bin/env node
// `npx prepaid-credits-verify FILE... [--key VKEY]... [--log URL]`: verifies receipts, checkpoints and consistency proofs without
// an account and without the service. Exit code 0: everything is verified; 1: it is not; 2: invalid
// command line; 3: it is consistent, and without --key it is not known who has signed it.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { exitCodes, verifyFiles } from '../dist/verify/files.js'

const usage = 'Usage: prepaid-credits-verify FILE... [--key VKEY]... [--log URL]'
const options = {
  key: { type: 'string', multiple: true, default: [] },
  log: { type: 'string' },
  help: { type: 'boolean' },
}

/** A file is hostile until it is verified: nothing of it may move the cursor of the terminal. */
const print = (stream, line) => stream.write(`${line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD')}\n`)

function readArguments() {
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (positionals.length === 0 && !values.help) throw new Error('no file was given')
  return { ...values, files: positionals }
}

async function main() {
  let given
  try {
    given = readArguments()
  } catch (error) {
    print(process.stderr, error.message)
    print(process.stderr, usage)
    return 2
  }
  if (given.help) return print(process.stdout, usage) && 0
  try {
    const files = given.files.map((name) => ({ name, content: readFileSync(name) }))
    const report = await verifyFiles(files, { keys: given.key, log: given.log })
    for (const file of report.files) {
      const lines = Object.entries(file).filter(([, value]) => value !== null)
      for (const [name, value] of lines) print(process.stdout, `${name.padEnd(14)}  ${value}`)
    }
    for (const name of ['key', 'history', 'result', 'ok']) print(process.stdout, `${name.padEnd(14)}  ${report[name]}`)
    return exitCodes[report.result]
  } catch (error) {
    print(process.stderr, error.message)
    return 1
  }
}

process.exitCode = await main()
