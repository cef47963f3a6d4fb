// The gateway of a measurement: the sandbox, which answers at once.
import { startSandbox } from '../../sandbox/server.ts'

export type SandboxInput = { dataDir: string; clientKey: string; secretKey: string }

const { dataDir, clientKey, secretKey } = JSON.parse(process.argv[2] ?? '') as SandboxInput
const sandbox = await startSandbox({
  host: '127.0.0.1',
  port: 0,
  dataDir,
  clientKey,
  secretKey,
  strict: false,
  webhookUrl: undefined,
})
process.send?.({ url: sandbox.url })
process.once('SIGTERM', () => sandbox.close().finally(() => process.exit(0)))
process.once('disconnect', () => process.exit(0))
