// With keys of the real gateway the shop loads the gateway's own script; with the sandbox, the sandbox's.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { databaseUrl } from '../../harness/processes.ts'
import { readConfig } from '../../src/config.ts'
import { startDevelopment } from '../../src/dev/start.ts'
import { createTestDatabase } from '../support/database/database.ts'
import { secretKey, startTestSandbox } from '../support/service/service.ts'

const free = {
  PORT: '0',
  INTERNAL_PORT: '0',
  WEBHOOK_PORT: '0',
  SANDBOX_PORT: '0',
  STOREFRONT_PORT: '0',
  LOG_LEVEL: 'silent',
}

/** The page from which the payment window is opened, after a click on Buy. */
async function payPage(environment: Record<string, string>): Promise<{ html: string; policy: string; shop: string }> {
  const database = await createTestDatabase()
  const DATABASE_URL = databaseUrl(database.connection)
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'prepaid-credits-shop-'))
  const config = readConfig({ ...free, DATABASE_URL, DATA_DIR, ...environment })
  const service = await startDevelopment(config, pino({ level: 'silent' }))
  try {
    const shop = service.storefrontUrl ?? ''
    const home = await (await fetch(shop)).text()
    const token = /name="token" value="([^"]+)"/.exec(home)?.[1] ?? ''
    const body = new URLSearchParams({ packageType: 'BASIC', token })
    const page = await fetch(`${shop}/buy`, { method: 'POST', body })
    return { html: await page.text(), policy: page.headers.get('content-security-policy') ?? '', shop }
  } finally {
    await service.close()
    await database.drop()
    rmSync(DATA_DIR, { recursive: true, force: true })
  }
}

test('with test keys of the gateway: its own script, its client key, and our return addresses', async () => {
  const sandbox = await startTestSandbox()
  const KEY_PEPPER = 'a pepper for the tests only'
  const keys = { TOSS_CLIENT_KEY: 'test_ck_of_the_tests', TOSS_SECRET_KEY: secretKey, KEY_PEPPER }
  try {
    const { html, policy, shop } = await payPage({ GATEWAY: 'toss', TOSS_API_URL: sandbox.url, ...keys })
    assert.match(html, /data-gateway-script="https:\/\/js\.tosspayments\.com\/v2\/standard"/)
    assert.match(html, /data-client-key="test_ck_of_the_tests"/)
    assert.ok(html.includes(`data-success-url="${shop}/success"`), html)
    assert.match(policy, /script-src 'self' https:\/\/\*\.tosspayments\.com;/)
    assert.equal(html.includes(secretKey), false)
  } finally {
    await sandbox.close()
  }
})

test('in sandbox mode: the script of the sandbox, and nothing from the real gateway', async () => {
  const { html, policy } = await payPage({})
  assert.match(html, /data-gateway-script="http:\/\/127\.0\.0\.1:\d+\/v2\/standard"/)
  assert.equal(`${html}${policy}`.includes('tosspayments.com'), false)
})
