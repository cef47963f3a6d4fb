// What `npm start` prints: where everything listens, the demo key on the first start, commands to paste that buy, confirm
// and read the balance, and how to add a first operator to the console.
import type { Service as ServiceAlone } from '../service.ts'
import type { DevelopmentService } from './start.ts'

type Service = ServiceAlone & Partial<Pick<DevelopmentService, 'storefrontUrl' | 'demoKey'>>

export function banner(service: Service, pid: number): string {
  return [...addresses(service, pid), ...keyLines(service), ...firstSteps(service), ...signIn(service), ''].join('\n')
}

function addresses(service: Service, pid: number): string[] {
  const { publicUrl, internalUrl, webhookUrl, sandboxUrl, storefrontUrl, databasePlace } = service
  return [
    `Ready (process ${pid}).`,
    ...(sandboxUrl ? ['NO MONEY MOVES: the gateway is the sandbox.'] : []),
    '',
    ...(storefrontUrl ? [`  shop       ${storefrontUrl}   (buy credits in a browser)`] : []),
    `  API        ${publicUrl}/public/v1/payments`,
    `  spending   ${internalUrl}/internal/v1   (for services with a token: npm run -s credits -- services issue --name NAME)`,
    `  reference  ${internalUrl}/docs   (both APIs, in a browser)`,
    `  console    ${internalUrl}/console   (for operators, in a browser)`,
    `  health     ${internalUrl}/readyz`,
    `  webhooks   ${webhookUrl}   (for the gateway alone)`,
    ...(sandboxUrl ? [`  sandbox    ${sandboxUrl}/sandbox/payments   (stands in for Toss Payments)`] : []),
    `  database   PostgreSQL, ${databasePlace}`,
    '',
  ]
}

function keyLines({ demoKey, sandboxUrl }: Service): string[] {
  if (demoKey) return ['An API key for the customer "demo", shown this once:', '', `  KEY=${demoKey.apiKey}`, '']
  if (!sandboxUrl) return []
  return ['Another API key for the customer "demo":', '', '  npm run -s credits -- keys issue --customer demo', '']
}

function signIn({ hasOperators }: Service): string[] {
  if (hasOperators) return []
  return [
    'The console has no operator yet. This adds one and prints the first password, once:',
    '',
    '  npm run -s credits -- operators add NAME --role admin',
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
