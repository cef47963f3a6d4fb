// Every command has complete help, and its examples work: they are parsed, and run against a real database and the sandbox.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import type { Command, CommandInput } from '../../src/commands/command.ts'
import { commandGroups, commands } from '../../src/commands/command-table.ts'
import { commandHelp, nounHelp, overview, synopsis } from '../../src/commands/line/help.ts'
import { optionsOf } from '../../src/commands/line/options.ts'
import { parse } from '../../src/commands/line/parse.ts'
import { render } from '../../src/commands/line/render.ts'
import { createOutbound } from '../../src/events/outbound.ts'
import { saveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { startTestService, type TestService, testPeppers, testSigner } from '../support/service/service.ts'
import { checkReceipt, logEntries } from '../support/spending/receipts.ts'

/** Recorded with `--test-update-snapshots`. */
const asText = { serializers: [(text: string) => text] }

/** Splits an example as a shell would, without a redirection. */
function splitLine(line: string): string[] {
  const [typed = ''] = line.split(' > ')
  return [...typed.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word)
}

function called(line: string): { command: Command; input: CommandInput } {
  const parsed = parse(commands, splitLine(line))
  return parsed.kind === 'call' ? parsed : assert.fail(`${line}: ${JSON.stringify(parsed)}`)
}

for (const command of commands) {
  const { name, summary, arguments: positionals = [], examples, failsWhen } = command
  test(`the help of ${name} has usage, all arguments and options, examples and exit codes`, () => {
    assert.match(name, /^[a-z]+( [a-z-]+)?$/)
    assert.match(summary, /^[A-Z].*\.$/)
    const help = commandHelp(command, undefined)
    assert.ok(help.startsWith(summary.slice(0, 40)))
    for (const argument of positionals) assert.match(help, new RegExp(`^ {2}${argument.name} +\\S`, 'm'))
    for (const { name: option } of optionsOf(command))
      assert.match(help, new RegExp(`^ {2}--${option}\\b.* {2}\\S`, 'm'))
    for (const { line } of examples) assert.ok(help.includes(`\n  credits ${line}\n`), line)
    for (const code of [0, 1, 2, 130]) assert.match(help, new RegExp(`^ {2}${code} +\\w`, 'm'))
    if (failsWhen) assert.ok(help.replaceAll(/\s+/g, ' ').includes(`; or ${failsWhen}`))
    assert.deepEqual(
      help.split('\n').filter((line) => line.length > 100 && !line.startsWith('  credits ')),
      [],
    )
  })

  test(`the examples of ${name} parse as calls of it`, () => {
    for (const { line } of examples) assert.equal(called(line).command.name, name)
  })
}

test('the help page of all commands has each on a line, and fits narrow terminals', () => {
  const page = overview({ groups: commandGroups, columns: undefined })
  for (const { name } of commands) assert.match(page, new RegExp(`^ {2}${name} {2,}[A-Z]`, 'm'))
  for (const columns of [60, 80]) {
    const lines = overview({ groups: commandGroups, columns }).split('\n')
    assert.deepEqual(
      lines.filter((line) => / {2}[A-Z]/.test(line) && line.length > columns),
      [],
    )
  }
})

test('the help page of a noun has the synopsis of each of its verbs', () => {
  const page = nounHelp('orders', { groups: commandGroups, columns: undefined })
  const verbs = commands.filter(({ name }) => name.startsWith('orders '))
  assert.equal(verbs.length, 4)
  const onOneLine = page.replaceAll(/\s+/g, ' ')
  for (const verb of verbs) assert.ok(onOneLine.includes(` ${synopsis(verb)} `))
  assert.doesNotMatch(page, /credits keys/)
})

test('a name belongs to one command, and an option has the same kind in all commands', () => {
  assert.equal(new Set(commands.map(({ name }) => name)).size, commands.length)
  const kinds = Map.groupBy(commands.flatMap(optionsOf), ({ name }) => name)
  for (const [name, options] of kinds) {
    assert.equal(new Set(options.map(({ option }) => option !== undefined)).size, 1, `--${name}`)
  }
})

let service: TestService
/** The ids in this database that replace the sample ids of the examples. */
let realIds: [sample: RegExp, id: string][] = []
const keptCheckpoint = join(newDirectory({ after }), 'kept.checkpoint')
/** The customer and the service of the receipts. */
let spender: { customerId: string; serviceId: string }
before(async () => {
  service = await startTestService()
  const { customerId, keyId, confirmedOrder } = await service.newCustomer()
  await service.database.query(`update customers set name = 'acme' where customer_id = $1`, [customerId])
  const { orderId } = await confirmedOrder()
  const { serviceId } = await run<{ serviceId: string }>('services issue --name "of the examples"')
  const { endpointId } = await run<{ endpointId: string }>('endpoints add --url https://example.com/')
  const open = { kind: 'SECOND_PAYMENT', subject: 'pay_of_the_examples', order: null, detail: {} }
  await saveDiscrepancy(service.payments.database, open)
  const [discrepancy] = await run<{ discrepancyId: string }[]>('discrepancies list')
  const buyer = await service.newCustomer()
  spender = { customerId: buyer.customerId, serviceId }
  const part = await buyer.confirmedOrder()
  await service.sandbox.cancel(part.paymentKey, 5_000)
  await review(service.payments, { customerId: buyer.customerId, orderId: part.orderId })
  const [, cancelledInPart] = await run<{ discrepancyId: string }[]>('discrepancies list')
  const { approvalNumber } = await run<{ approvalNumber: string }>(`orders show ${orderId}`)
  const request = 'adjustments grant --customer acme --credits 35 --reason "for the examples" --by lee'
  const approved = await run<{ adjustmentId: string }>(request)
  const rejected = await run<{ adjustmentId: string }>(request)
  const { budgetId } = await run<{ budgetId: string }>(
    'budgets set --customer acme --scope USER --value of-the-examples --period HOUR --credits 5',
  )
  realIds = [
    [/\bkey_\w+/, keyId],
    [/\bsvc_\w+/, serviceId],
    [/\bend_\w+/, endpointId],
    [/\bord_\w+/, orderId],
    [/(?<=--payment )\d+/, approvalNumber],
    [/(?<=approve )[0-9a-f]{8}-[0-9a-f-]{27}\b/, approved.adjustmentId],
    [/(?<=reject )[0-9a-f]{8}-[0-9a-f-]{27}\b/, rejected.adjustmentId],
    [/(?<=accept )[0-9a-f]{8}-[0-9a-f-]{27}\b/, cancelledInPart?.discrepancyId ?? ''],
    [/(?<=resolve )[0-9a-f]{8}-[0-9a-f-]{27}\b/, discrepancy?.discrepancyId ?? ''],
    [/(?<=remove )[0-9a-f]{8}-[0-9a-f-]{27}\b/, budgetId],
    [/(?<=^receipt --customer )acme/, buyer.customerId],
  ].map(([sample, id]) => [sample as RegExp, id as string])
})
after(() => service.close())

async function run<Result>(line: string): Promise<Result> {
  const { command, input } = called(line)
  const { payments } = service
  const { database, tallies } = payments
  const outbound = createOutbound({ allowPrivate: false, timeoutMs: 1_000 })
  const settings = { timeoutMs: 1_000, firstPauseMs: 1_000, longestPauseMs: 1_000, deadAfterMs: 1_000 }
  try {
    return await callCommand<Result>(commands, command.name, input, {
      database,
      peppers: () => testPeppers,
      signer: () => testSigner,
      logName: () => testSigner,
      knownPeppers: () => testPeppers,
      resolvePath: () => keptCheckpoint,
      adjustments: { limits: { viewer: 0, support: 0, finance: 0, admin: 100 }, approvalAbove: 30 },
      firstPasswordHours: 72,
      payments: async () => payments,
      deliveries: async () => ({ database, outbound, sealing: testPeppers, settings, log: silentLog, tallies }),
    })
  } finally {
    await outbound.close()
  }
}

/** The fields whose values differ from run to run. */
const varying =
  /^(lastFour|paymentKey|transactionKey|receiptUrl|approvalNumber|firstPassword|tookMs|actor|ageSeconds|oldestDiscrepancySeconds)$/

function masked(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, name))
  if (value instanceof Date) return 'TIME'
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, masked(each, key)]))
  }
  if (varying.test(name) && value !== null) return name.toUpperCase()
  return typeof value === 'string' ? maskedText(value) : value
}

function maskedText(text: string): string {
  return text
    .replaceAll(/\b(key|svc|end|ord|opr)_[A-Za-z0-9]+/g, '$1_ID')
    .replaceAll(/\b(cpk|cst|whsec)_[A-Za-z0-9+/=_-]+/g, '$1_SECRET')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, 'UUID')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, 'TIME')
}

/** The spend of the examples, and everything in the log. */
async function prepareReceipts(): Promise<void> {
  const { credits, database } = service.payments
  await credits.spend({
    customerId: spender.customerId,
    credits: 1,
    reference: 'analysis-1',
    serviceId: spender.serviceId,
  })
  await logEntries(database)
}

/** The checkpoint that the examples have kept. */
async function keepCheckpoint(): Promise<void> {
  const { database } = service.payments
  await logEntries(database)
  writeFileSync(keptCheckpoint, (await readCheckpoint(database))?.note ?? '')
}

/** The hashes of a receipt, and so the rest of it, differ from run to run. */
function maskedFile(text: string): string {
  if (!text.startsWith('{')) return maskedText(text)
  const { format, subject } = JSON.parse(text)
  return maskedText(`${JSON.stringify({ format, subject })} ...\n`)
}

test('help equals its record', (t) => {
  const pages = [
    overview({ groups: commandGroups, columns: undefined }),
    ...commands.map((command) => commandHelp(command, undefined)),
  ]
  t.assert.fileSnapshot(pages.join('\n----\n\n'), 'test/recorded/command-help.txt', asText)
})

/** The examples of standalone commands need databases of their own. */
const runnable = commands.filter(({ runStandalone }) => !runStandalone)
test('the examples work in a real database', async (t) => {
  const outputs: string[] = []
  for (const { name, examples } of runnable) {
    for (const { line } of examples) {
      await t.test(line, async () => {
        const realLine = realIds.reduce((text, [sample, id]) => text.replace(sample, id), line)
        if (name === 'receipt') await prepareReceipts()
        if (line.includes('--checkpoint')) await keepCheckpoint()
        if (line === 'audit') await recordPlayedActions(service.database)
        const result = await run<object | string>(realLine)
        const command = commands.find((each) => each.name === name)
        if (command?.writes === 'CSV') assert.match(`${result}`, /^(entryNumber|customerId|at),.*\r\n/)
        else if (typeof result === 'string') checkReceipt(JSON.parse(result))
        else assert.equal(command?.failed?.(result) ?? false, false, JSON.stringify(result))
        const output = typeof result === 'string' ? maskedFile(result) : render(masked(result) as object)
        assert.notEqual(output, '')
        outputs.push(`$ credits ${line}\n${output.replaceAll(/ +$/gm, '')}`)
      })
    }
  }
  t.assert.fileSnapshot(outputs.join('\n'), 'test/recorded/command-outputs.txt', asText)
})
