// What `npm start` prints: where everything listens, the demo key on the first start, commands to paste that buy, confirm
// and read the balance, and how to add a first operator to the console. A command has the settings in front of it that lead
// it to the data of this service from any shell.
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config.ts'
import { forShell } from '../core/shell-quoting.ts'
import type { Service as ServiceAlone } from '../service.ts'
import type { DevelopmentService } from './start.ts'

type Service = ServiceAlone & Partial<Pick<DevelopmentService, 'storefrontUrl' | 'demoKey'>>

type DataSettings = Pick<Config, 'dataDir' | 'databaseUrl' | 'keyPeppers'>

export function banner(service: Service, config: DataSettings, pid: number): string {
  return [
    ...addresses(service, config, pid),
    ...keyLines(service, config),
    ...firstSteps(service),
    ...signIn(service, config),
    '',
  ].join('\n')
}

/** Where commands run, whatever directory they are typed in. */
const root = fileURLToPath(new URL('../..', import.meta.url))

/** A secret is named, not shown: a shell that does not have it refuses the line. */
const fromShell = (name: string) => `${name}="\${${name}:?}"`

function commandLine({ dataDir, databaseUrl, keyPeppers }: DataSettings, command: string, usesPepper: boolean): string {
  const path = relative(root, dataDir)
  const settings = [
    ...(dataDir === join(root, 'data') ? [] : [`DATA_DIR=${forShell(path.startsWith('..') ? dataDir : path)}`]),
    ...(databaseUrl === undefined ? [] : [fromShell('DATABASE_URL')]),
    ...(usesPepper && keyPeppers ? [fromShell('KEY_PEPPER')] : []),
  ]
  return [...settings, `npm run -s credits -- ${command}`].join(' ')
}

function addresses(service: Service, config: DataSettings, pid: number): string[] {
  const { publicUrl, internalUrl, webhookUrl, sandboxUrl, storefrontUrl, databasePlace } = service
  return [
    `Ready (process ${pid}).`,
    ...(sandboxUrl ? ['NO MONEY MOVES: the gateway is the sandbox.'] : []),
    '',
    ...(storefrontUrl ? [`  shop       ${storefrontUrl}   (buy credits in a browser)`] : []),
    `  API        ${publicUrl}/public/v1/payments`,
    `  spending   ${internalUrl}/internal/v1   (for services with a token: ${commandLine(config, 'services issue --name NAME', true)})`,
    `  reference  ${internalUrl}/docs   (both APIs, in a browser)`,
    `  console    ${internalUrl}/console   (for operators, in a browser)`,
    `  health     ${internalUrl}/readyz`,
    `  webhooks   ${webhookUrl}   (for the gateway alone)`,
    ...(sandboxUrl ? [`  sandbox    ${sandboxUrl}/sandbox   (stands in for Toss Payments)`] : []),
    `  database   PostgreSQL, ${databasePlace}`,
    '',
  ]
}

function keyLines({ demoKey, sandboxUrl }: Service, config: DataSettings): string[] {
  if (demoKey) return ['An API key for the customer "demo", shown this once:', '', `  KEY=${demoKey.apiKey}`, '']
  if (!sandboxUrl) return []
  const command = commandLine(config, 'keys issue --customer demo', true)
  return ['Another API key for the customer "demo":', '', `  ${command}`, '']
}

function signIn({ hasOperators }: Service, config: DataSettings): string[] {
  if (hasOperators) return []
  return [
    'The console has no operator yet. This adds one and prints the first password, once:',
    '',
    `  ${commandLine(config, 'operators add NAME --role admin', false)}`,
    '',
  ]
}

/** In order, in one shell, with KEY set: each command prints its answer, the first keeps the order for the second. */
function firstSteps({ publicUrl, sandboxUrl }: Service): string[] {
  if (!sandboxUrl) return []
  const call = (path: string) => `curl -s -w '\\n' ${publicUrl}/public/v1/payments/${path} -H "Service-Api-Key: $KEY"`
  const json = "-H 'Content-Type: application/json'"
  const orderId = 'sed \'s/.*"orderId":"\\([^"]*\\)".*/\\1/\''
  return [
    'Buy, confirm, read the balance (with KEY set as above):',
    '',
    `  ORDER=$(${call('purchase')} ${json} -d '{"packageType":"STANDARD"}' | tee /dev/stderr | ${orderId})`,
    `  ${call('confirm')} ${json} -d '{"orderId":"'$ORDER'","paymentKey":"pay_'$ORDER'","amount":20000}'`,
    `  ${call('credits')}`,
    '',
  ]
}
