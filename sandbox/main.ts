// `npm run sandbox`, or `toss-sandbox` from the package: the sandbox alone, as a process of its own, with the defaults the
// service has for it; `toss-sandbox scenarios` is the other command. The only file of the sandbox that reads the
// environment. A mistake in the settings is one line on stderr and exit code 1.

import { join, resolve } from 'node:path'
import { runScenariosCommand } from './scenarios/command.ts'
import { type RunningSandbox, type SandboxOptions, startSandbox } from './server.ts'

/** Not a secret: every sandbox without keys has this one. */
const publicSecretKey = 'test_sk_sandbox'

type Environment = Record<string, string | undefined>

/** Separated by commas. */
function namesIn(text: string | undefined): string[] {
  const names = (text ?? '').split(',').map((name) => name.trim().toLowerCase())
  return names.filter((name) => name !== '')
}

function readOptions(environment: Environment): SandboxOptions {
  // An empty variable counts as not set.
  const raw = (name: string) => environment[name]?.trim() || undefined
  const port = raw('SANDBOX_PORT') ?? '8082'
  if (!/^\d+$/.test(port) || Number(port) > 65_535) {
    throw new Error(`SANDBOX_PORT: expected a whole number from 0 to 65535, got "${port}"`)
  }
  const strict = raw('SANDBOX_STRICT') ?? '0'
  if (strict !== '0' && strict !== '1') throw new Error(`SANDBOX_STRICT: expected one of 0, 1, got "${strict}"`)
  return {
    host: raw('SANDBOX_HOST') ?? raw('INTERNAL_HOST') ?? '127.0.0.1',
    port: Number(port),
    hostnames: [raw('INTERNAL_HOSTNAMES'), raw('INTERNAL_HOST')].flatMap(namesIn),
    clientKey: raw('TOSS_CLIENT_KEY') ?? 'test_ck_sandbox',
    secretKey: raw('TOSS_SECRET_KEY') ?? publicSecretKey,
    shopName: raw('SHOP_NAME'),
    dataDir: join(resolve(raw('DATA_DIR') ?? './data'), 'sandbox'),
    strict: strict === '1',
    webhookUrl: raw('SANDBOX_WEBHOOK_URL'),
  }
}

function explain(error: unknown, { host, port }: Partial<SandboxOptions>): string {
  const { code, message } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is taken: stop what uses it, or set SANDBOX_PORT to another.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set SANDBOX_HOST or INTERNAL_HOST.`,
    ENOTFOUND: `${host} is not an address: set SANDBOX_HOST or INTERNAL_HOST.`,
  }
  return reasons[code ?? ''] ?? message
}

function banner({ url }: RunningSandbox, options: SandboxOptions): string {
  const keys = options.strict ? 'only keys issued below can be confirmed' : 'a made-up paymentKey can be confirmed too'
  const secretKey = options.secretKey === publicSecretKey ? publicSecretKey : '$TOSS_SECRET_KEY'
  return `The sandbox stands in for Toss Payments: no money moves. Process ${process.pid}.

  page       ${url}/sandbox   (${keys})
  address    ${url}
  journal    ${options.dataDir}
  webhooks   ${options.webhookUrl ?? 'nowhere'}   (PUT ${url}/sandbox/webhook)

A buyer pays, a shop confirms:

  curl -s -w '\\n' ${url}/sandbox/payments -H 'Content-Type: application/json' -d '{"orderId":"order-1","amount":1000}'
  curl -s -w '\\n' ${url}/v1/payments/confirm -u ${secretKey}: -H 'Content-Type: application/json' -d '{"orderId":"order-1","amount":1000,"paymentKey":"..."}'

Control endpoints, under ${url}/sandbox:

  GET    payments            all payments; GET requests: what the shop has sent
  PUT    faults              the next faults: [{ "on": "confirm", "kind": "reset-after", "times": 1 }]
  GET    faults/fired        how often each has occurred since this process started
  POST   clock               advances the clock: { "advanceMs": 600000 }
  PUT    behaviour           undocumented behaviour of the gateway; GET shows it
  GET    webhooks            deliveries and their attempts; POST webhooks/resend { "paymentKey": "..." }

`
}

const help = `toss-sandbox: stands in for Toss Payments on this machine

  toss-sandbox              starts the sandbox
  toss-sandbox scenarios    twenty faults against your own integration; see toss-sandbox scenarios --help

Settings: SANDBOX_PORT (8082), SANDBOX_HOST (127.0.0.1), DATA_DIR (./data), TOSS_CLIENT_KEY, TOSS_SECRET_KEY,
SHOP_NAME (whom the payment window names), SANDBOX_STRICT (1: only payment keys of the sandbox), SANDBOX_WEBHOOK_URL.
`

async function main([command, ...args]: string[], environment: Environment): Promise<void> {
  if (command === undefined) return start(environment)
  if (command === 'scenarios') {
    const write = (text: string) => void process.stdout.write(text)
    const complain = (text: string) => void process.stderr.write(text)
    const sandboxOptions = () => readOptions(environment)
    process.exitCode = await runScenariosCommand(args, { environment, sandboxOptions, write, complain })
    return
  }
  const isHelp = ['help', '--help', '-h'].includes(command)
  ;(isHelp ? process.stdout : process.stderr).write(isHelp ? help : `There is no command ${command}.\n\n${help}`)
  process.exitCode = isHelp ? 0 : 2
}

async function start(environment: Environment): Promise<void> {
  let options: Partial<SandboxOptions> = {}
  try {
    const read = readOptions(environment)
    options = read
    const sandbox = await startSandbox(read)
    const stop = () => sandbox.close().then(() => process.exit(0))
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    process.stdout.write(banner(sandbox, read))
  } catch (error) {
    process.stderr.write(`${explain(error, options)}\n`)
    process.exit(1)
  }
}

await main(process.argv.slice(2), process.env)
