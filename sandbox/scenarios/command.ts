// `toss-sandbox scenarios`: reads the options, starts a sandbox unless one is given, plays the scenarios and prints the
// report. Exit code 0: all hold, 1: findings, 2: the options or the shop are not as they have to be.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type SandboxOptions, startSandbox } from '../server.ts'
import { openGateway } from './gateway.ts'
import { rules } from './rules.ts'
import { playScenarios, type Result, type RunnerParts } from './runner.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { createShop, isAddress, refuseRemote, SetupProblem } from './shop.ts'

export const scenariosHelp = `toss-sandbox scenarios: twenty faults against your own integration of Toss Payments

  toss-sandbox scenarios --order CMD|URL [--return URL] [--status CMD|URL] [--cancel CMD|URL] [--webhook URL]

Your shop runs with the sandbox as its gateway: base URL http://127.0.0.1:8082 (SANDBOX_PORT), secret key test_sk_sandbox
(TOSS_SECRET_KEY). A command gets ORDER_ID, PAYMENT_KEY and AMOUNT in its environment, an address may contain {orderId},
{paymentKey} and {amount}; --order and --cancel are posted to, --status is got.

  --order CMD|URL     creates an order and answers with JSON { orderId, amount, successUrl? }
  --return URL        where the buyer comes back with paymentKey, orderId and amount, unless --order gives successUrl
  --status CMD|URL    answers with paid, failed, cancelled or pending, or with JSON { status }
  --cancel CMD|URL    cancels the order in your shop
  --webhook URL       where your shop receives webhooks, on this machine
  --sandbox URL       uses a sandbox that runs already, instead of starting one
  --only NAME,NAME    plays these scenarios only
  --wait SECONDS      how long the shop has to reach what must hold (90)
  --remote            allows addresses of other machines
  --json              prints the report as JSON
  --list              prints the scenarios and the rules

Exit code 0: all hold, 1: findings, 2: the options or the shop are not as they have to be.
`

const optionTypes = {
  order: { type: 'string' },
  return: { type: 'string' },
  status: { type: 'string' },
  cancel: { type: 'string' },
  webhook: { type: 'string' },
  sandbox: { type: 'string' },
  only: { type: 'string' },
  wait: { type: 'string' },
  remote: { type: 'boolean' },
  json: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

type Options = ReturnType<typeof readOptions>

type Environment = Record<string, string | undefined>

export type CommandParts = {
  environment: Environment
  /** How the sandbox of the command is started. */
  sandboxOptions: () => SandboxOptions
  write(text: string): void
  /** For what ends the command with exit code 2. */
  complain(text: string): void
  /** See RunnerParts. */
  quietMs?: number
}

/** Returns the exit code. */
export async function runScenariosCommand(args: string[], parts: CommandParts): Promise<number> {
  try {
    const options = readOptions(args)
    if (options.help) parts.write(scenariosHelp)
    if (options.list) parts.write(listText())
    return options.help || options.list ? 0 : await runWith(options, parts)
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    parts.complain(`${error.message}\n`)
    return 2
  }
}

function readOptions(args: string[]) {
  try {
    return parseArgs({ args, options: optionTypes }).values
  } catch (error) {
    throw new SetupProblem(`${(error as Error).message}\nSee toss-sandbox scenarios --help`)
  }
}

async function runWith(options: Options, parts: CommandParts): Promise<number> {
  const { order, json = false } = options
  if (order === undefined) throw new SetupProblem('--order is missing: see toss-sandbox scenarios --help')
  if (!options.remote) refuseRemoteOptions(options)
  const waitMs = readWait(options.wait)
  const chosen = choose(options.only)
  const shop = createShop({
    order,
    status: options.status,
    cancel: options.cancel,
    returnUrl: options.return,
    isRemoteAllowed: options.remote ?? false,
    environment: parts.environment,
    timeoutMs: waitMs,
  })

  const own = options.sandbox === undefined ? await startOwn(parts) : null
  const gateway = openGateway(own?.url ?? options.sandbox?.replace(/\/$/, '') ?? '')
  const timing = { waitMs, quietMs: parts.quietMs ?? 1_000 }
  try {
    const before = await gateway.webhookUrl()
    if (options.webhook === undefined)
      return await report({ gateway, shop, webhookUrl: before, ...timing }, chosen, json, parts)
    await gateway.setWebhookUrl(options.webhook)
    try {
      return await report({ gateway, shop, webhookUrl: options.webhook, ...timing }, chosen, json, parts)
    } finally {
      await gateway.setWebhookUrl(before)
    }
  } finally {
    await own?.close()
  }
}

async function report(
  runner: RunnerParts,
  chosen: readonly Scenario[],
  json: boolean,
  parts: CommandParts,
): Promise<number> {
  const results: Result[] = []
  let problem: SetupProblem | null = null
  if (!json) parts.write(`${chosen.length} scenarios, with the sandbox at ${runner.gateway.url}\n\n`)
  try {
    for await (const result of playScenarios(runner, chosen)) {
      results.push(result)
      if (!json) parts.write(rowText(result))
    }
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    problem = error
  }
  const count = (verdict: Result['verdict']) => results.filter((result) => result.verdict === verdict).length
  const summary = { passed: count('ok'), failed: count('failed'), skipped: count('skipped') }
  const whole = { ...summary, problem: problem?.message ?? null, scenarios: results }
  if (json) parts.write(`${JSON.stringify(whole, null, 2)}\n`)
  else parts.write(`\n${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped\n`)
  if (problem !== null) throw problem
  return summary.failed === 0 ? 0 : 1
}

function refuseRemoteOptions({ order, return: returnUrl, status, cancel, sandbox }: Options): void {
  for (const [name, value] of Object.entries({ order, return: returnUrl, status, cancel, sandbox })) {
    if (value !== undefined && isAddress(value)) refuseRemote(`--${name}`, value)
  }
}

function readWait(text = '90'): number {
  const seconds = Number(text)
  if (!(seconds >= 1 && seconds <= 600)) throw new SetupProblem(`--wait: expected 1 to 600 seconds, got "${text}".`)
  return seconds * 1_000
}

function choose(only: string | undefined): readonly Scenario[] {
  if (only === undefined) return scenarios
  const names = only.split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !scenarios.some((scenario) => scenario.name === name))
  if (unknown.length > 0) {
    const known = scenarios.map(({ name }) => name).join(', ')
    throw new SetupProblem(`--only: there is no ${unknown.join(', ')}; the scenarios are ${known}.`)
  }
  return scenarios.filter(({ name }) => names.includes(name))
}

/** In a directory that is removed with it: nothing of an earlier run is in the way. */
async function startOwn({ sandboxOptions }: CommandParts): Promise<{ url: string; close(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'toss-sandbox-'))
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  try {
    const sandbox = await startSandbox({ ...sandboxOptions(), dataDir, strict: true })
    return { url: sandbox.url, close: () => sandbox.close().finally(remove) }
  } catch (error) {
    remove()
    const { code, message } = error as NodeJS.ErrnoException
    const taken =
      'The port of the sandbox is taken: set SANDBOX_PORT, or use the sandbox that runs there with --sandbox.'
    throw new SetupProblem(code === 'EADDRINUSE' ? taken : message)
  }
}

const longestName = Math.max(...scenarios.map(({ name }) => name.length))

function rowText({ name, verdict, skipped, tookMs, findings, happens, mustHold }: Result): string {
  const mark = { ok: 'ok', failed: 'FAILED', skipped: 'skipped' }[verdict].padEnd(8)
  const note = skipped ?? `${(tookMs / 1_000).toFixed(1)} s`
  const row = `  ${mark} ${name.padEnd(longestName)}  ${note}\n`
  if (findings.length === 0) return row
  const lines = [happens, `Must hold: ${mustHold}`, ...findings.map(({ rule, text }) => `${rule}: ${text}`)]
  return row + lines.map((line) => `           ${line}\n`).join('')
}

function listText(): string {
  const rows = scenarios.map(({ name, happens, mustHold }) => `  ${name}\n    ${happens}\n    ${mustHold}\n`)
  const longest = Math.max(...Object.keys(rules).map(({ length }) => length))
  const lines = Object.entries(rules).map(([name, text]) => `  ${name.padEnd(longest)}  ${text}\n`)
  return `Scenarios\n\n${rows.join('')}\nRules\n\n${lines.join('')}`
}
