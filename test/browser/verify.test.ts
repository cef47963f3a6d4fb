// The page that verifies in a real Chromium: a file, a pasted text, a dropped file and the receipt of an order, in both languages,
// on a phone and on a desk, and as a copy that was saved. What is not verified is never shown as verified.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import type { Language } from '../../examples/storefront/texts/texts.ts'
import { verifyTexts } from '../../examples/storefront/texts/verify.ts'
import { newDirectory } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { openShop } from '../storefront/shop.ts'
import { closeAll } from '../support/closing.ts'
import { launchBrowser, takePicture } from '../support/console/browser.ts'
import { barriersOn, overflowOf } from '../support/console/person.ts'
import { callCli } from '../support/service/cli-call.ts'
import { newBuyer, startShop } from '../support/service/shop.ts'
import { corpus, log, logSigner, origin, strangerSigner, witness, witnessTime } from '../verify/corpus.ts'
import { customers, newLog, orderOf } from '../verify/reference-log.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : 'no Chromium on this machine, and none could be installed'

const directory = newDirectory({ after })
let shop: Awaited<ReturnType<typeof openShop>>
before(async () => {
  // The page asks no service.
  shop = await openShop({ apiUrl: 'http://127.0.0.1:1', apiKey: 'none', sandboxUrl: 'http://127.0.0.1:1' })
})
after(() => closeAll(browser, shop))

const checkpoint = log.checkpoint(41, [witness.line(log.bodyOf(41), witnessTime)])
const statement = {
  ...log.receipt(
    { statement: { customer: customers[0], from: 1, to: 10 } },
    Array.from({ length: 10 }, (_, place) => place * 2),
  ),
  checkpoint,
}
const orderReceipt = log.receipt({ order: orderOf(0) }, [0])

async function openPage(path: string, base = shop.url()): Promise<{ page: Page; close(): Promise<void> }> {
  const context = await (browser as Browser).newContext({ locale: 'en-US', viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !/status of (404|503)/.test(message.text()))
      problems.push(message.text())
  })
  await page.goto(`${base}${path}`)
  return {
    page,
    async close() {
      await context.close()
      assert.deepEqual(problems, [], 'errors and warnings of the page')
    },
  }
}

/** Pastes it and presses the button. */
async function paste(page: Page, content: string, keys: string[] = []): Promise<string> {
  await page.fill('#receipt', content)
  await page.fill('#keys', keys.join('\n'))
  await page.evaluate("document.querySelector('#result').replaceChildren()")
  await page.click('.verify button')
  await page.waitForSelector('#result .panel')
  return page.innerText('#result')
}

for (const language of ['ko', 'en'] as const satisfies Language[]) {
  test(`a receipt is shown with its entries, its key and its witness, without barriers (${language})`, {
    skip,
  }, async () => {
    const { page, close } = await openPage(`/verify?lang=${language}`)
    const text = verifyTexts[language]
    const looks = async (name: string) => {
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 })
        assert.equal(await overflowOf(page), 0, `${name} is wider than ${width}`)
        assert.deepEqual(await barriersOn(page), [], `${name} at ${width}`)
        await takePicture(page, `${name}-${language}-${width}`, { fullPage: true })
      }
    }
    const shown = await paste(page, JSON.stringify(statement), [logSigner.vkey, witness.vkey])
    for (const part of [
      text.verified,
      text.kinds.receipt,
      customers[0],
      '1 – 10',
      '+18',
      '41',
      logSigner.vkey,
      witness.vkey,
    ])
      assert.ok(shown.includes(part), `${part} in ${shown}`)
    assert.equal(shown.includes(text.signerNotKnown) || shown.includes(text.keyOfShop), false)
    assert.equal(await page.locator('.entries tbody tr').count(), 10)
    assert.match(await page.innerText('.entries tbody tr >> nth=1'), /use-2[\s\S]*−3[\s\S]*18/)

    const unknown = await paste(page, JSON.stringify(statement))
    assert.ok(unknown.startsWith(text.signerNotKnown) && unknown.includes(text.signerNotKnownText), unknown)
    assert.equal(unknown.includes(text.verified), false)
    assert.equal(await page.locator('.panel.good').count(), 0)
    await looks('signer not known')
    const broken = JSON.stringify(statement).replace('delta -3', 'delta -2')
    const refused = await paste(page, broken, [logSigner.vkey])
    assert.ok(refused.includes(text.notVerified) && refused.includes(text.problems.proof), refused)
    assert.equal(await page.locator('.entries, .panel.good').count(), 0)
    await looks('refused')
    assert.ok((await paste(page, JSON.stringify(statement), [strangerSigner.vkey])).includes(text.problems['no-key']))
    assert.ok((await paste(page, '{')).includes(text.problems.format))
    await close()
  })
}

test('every file of the corpus gets the same answer as from the command', { skip }, async () => {
  const { page, close } = await openPage('/verify?lang=en')
  const { notVerified, problems, signerNotKnown, verified } = verifyTexts.en
  const isOfLog = (vkey: string) => Buffer.from(vkey.split('+').slice(2).join('+'), 'base64')[0] === 1
  // Several files are compared by the command alone; text fields change the ends of lines, and have no bytes that are no text.
  const cases = corpus.flatMap(({ name, files: [file = '', ...others], keys = [], problem }) =>
    others.length > 0 || typeof file !== 'string' || /[\r\0]/.test(file) ? [] : [{ name, file, keys, problem }],
  )
  const shown = (await page.evaluate(`(async () => {
    const shown = []
    const result = document.querySelector('#result')
    for (const { file, keys } of ${JSON.stringify(cases)}) {
      document.querySelector('#receipt').value = file
      document.querySelector('#keys').value = keys.join('\\n')
      const changed = new Promise((resolve) => new MutationObserver(resolve).observe(result, { childList: true }))
      document.querySelector('.verify').requestSubmit()
      await changed
      shown.push(result.innerText)
    }
    return shown
  })()`)) as string[]
  assert.ok(cases.length > 150)
  for (const [place, { name, keys, problem }] of cases.entries()) {
    const text = shown[place] ?? ''
    const good = keys.some(isOfLog) ? verified : signerNotKnown
    assert.ok(text.startsWith(problem === null ? good : notVerified), `${name}: ${text}`)
    if (problem !== null && problem in problems)
      assert.ok(text.includes(problems[problem as keyof typeof problems]), `${name}: ${text}`)
  }
  await close()
})

for (const language of ['ko', 'en'] as const satisfies Language[]) {
  test(`the page of a shop verifies by the key of its log, and refuses a receipt that anyone signed under its name (${language})`, {
    skip,
  }, async () => {
    await using stack = new AsyncDisposableStack()
    const server = createServer((_request, response) => response.end(`${logSigner.vkey}\n`)).listen(0, '127.0.0.1')
    stack.defer(() => {
      server.close()
    })
    await once(server, 'listening')
    const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const statementApi = { apiUrl: () => apiUrl, token: 'none' }
    const ofLog = await openShop({ apiUrl, apiKey: 'none', sandboxUrl: apiUrl, statement: statementApi })
    stack.defer(() => ofLog.close())
    const { page, close } = await openPage(`/verify?lang=${language}`, ofLog.url())
    const text = verifyTexts[language]
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      assert.equal(await overflowOf(page), 0, `the keys are wider than ${width}`)
      assert.deepEqual(await barriersOn(page), [], `the keys at ${width}`)
      await takePicture(page, `keys-${language}-${width}`, { fullPage: true })
    }
    // A click selects the whole key, to copy it.
    await page.click('.keys code')
    assert.equal(await page.evaluate('getSelection().toString()'), logSigner.vkey)
    const genuine = await paste(page, JSON.stringify(orderReceipt))
    assert.ok(genuine.startsWith(text.verified) && genuine.includes(text.keyOfShop), genuine)
    const forged = newLog(origin, log.leaves, [strangerSigner]).receipt({ order: orderOf(0) }, [0])
    const refused = await paste(page, JSON.stringify(forged))
    assert.ok(refused.startsWith(text.notVerified) && refused.includes(text.problems['no-key']), refused)
    assert.ok((await paste(page, JSON.stringify(forged), [strangerSigner.vkey])).startsWith(text.verified))
    await close()
  })
}

test('a file is verified when it is chosen, and when it is dropped', { skip }, async () => {
  const { page, close } = await openPage('/verify?lang=en')
  const file = join(directory, 'receipt.json')
  writeFileSync(file, JSON.stringify(orderReceipt))
  await page.setInputFiles('#file', file)
  await page.waitForSelector('.panel.undecided')
  assert.ok((await page.innerText('#result')).includes(orderOf(0)))
  await page.evaluate(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([${JSON.stringify(log.checkpoint(40))}], 'checkpoint'))
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }))
  })()`)
  await page.waitForSelector('.panel.bad')
  assert.ok((await page.innerText('#result')).includes(verifyTexts.en.problems['no-key']))
  await close()
})

test('a file is verified as it is: other ends of lines and bytes that are no text are refused', { skip }, async () => {
  const { page, close } = await openPage('/verify?lang=en')
  await page.fill('#keys', logSigner.vkey)
  const { problems } = verifyTexts.en
  const asWindows = Buffer.from(log.checkpoint().replaceAll('\n', '\r\n'))
  for (const [buffer, problem] of [
    [asWindows, problems.note],
    [Buffer.of(0x7b, 0xff), problems.format],
  ] as const) {
    await page.setInputFiles('#file', { name: 'file', mimeType: 'text/plain', buffer })
    await page.getByText(problem).waitFor()
  }
  await close()
})

for (const language of ['ko', 'en'] as const satisfies Language[]) {
  test(`the receipt of an order is loaded from the shop, and one that is not in the log yet is no problem (${language})`, {
    skip,
  }, async () => {
    const { page, close } = await openPage(`/verify?lang=${language}`)
    const text = verifyTexts[language]
    let asked = 0
    const panelSeen = Promise.withResolvers<void>()
    await page.route('**/receipt?order=*', async (route) => {
      asked += 1
      if (asked === 2) await panelSeen.promise
      if (asked < 3) return route.fulfill({ status: 503, body: 'a page' })
      return route.fulfill({ contentType: 'application/json', body: `${JSON.stringify(orderReceipt, null, 2)}\n` })
    })
    await page.clock.install()
    await page.goto(`${shop.url()}/verify?order=${orderOf(0)}`)
    const waiting = await page.waitForSelector('#result .panel.waiting')
    assert.equal(await waiting.innerText(), `${text.notReady}\n\n${text.notReadyText}`)
    assert.equal(await page.locator('.panel.bad, .panel.good').count(), 0)
    assert.deepEqual(await barriersOn(page), [])
    const tops = async () =>
      Promise.all(
        ['.verify', '#result .panel', '#result h2'].map(async (each) => (await page.locator(each).boundingBox())?.y),
      )
    const before = await tops()
    const waitUntilAsked = (times: number) =>
      until(`request ${times}`, async () => {
        await page.clock.runFor(500)
        return asked === times
      })
    await waitUntilAsked(2)
    assert.equal(await waiting.isVisible(), true, 'the same panel')
    panelSeen.resolve()
    await waitUntilAsked(3)
    await page.waitForSelector('.panel.undecided')
    assert.deepEqual(await tops(), before)
    assert.equal(asked, 3)
    await page.unroute('**/receipt?order=*')
    await page.goto(`${shop.url()}/verify?order=ord_unknown`)
    await page.getByText(text.problems['not-loaded']).waitFor()
    await close()
  })
}

test('the page runs nothing but its own script and asks no other host', { skip }, async () => {
  const { headers, html } = await shop.get('/verify')
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /script-src 'self' 'sha256-[\w+/]{43}='; connect-src 'self';/)
  assert.doesNotMatch(policy, /unsafe|https?:/)
  assert.doesNotMatch(html, /<script[^>]* src=|<link rel="stylesheet"/)
})

test('a saved copy verifies without the shop', { skip }, async () => {
  const saved = join(directory, 'verify.html')
  writeFileSync(saved, (await shop.get('/verify?lang=en')).html)
  const { page, close } = await openPage('', pathToFileURL(saved).href)
  assert.ok((await paste(page, JSON.stringify(orderReceipt), [logSigner.vkey])).startsWith(verifyTexts.en.verified))
  await close()
})

test('a buyer verifies an order from its page, and the command verifies the file against the log', {
  skip,
}, async () => {
  await using whole = new AsyncDisposableStack()
  const sold = await startShop()
  whole.defer(() => sold.close())
  const buyer = await newBuyer(browser as Browser, sold, { locale: 'en-US' })
  const { page } = buyer
  await buyer.buy('STANDARD')
  await buyer.outcome('good')
  await page.goto(`${sold.url}/orders`)
  await page.click('.orders a >> nth=0')
  // The page waits until the order is in the log.
  await page.click('a[href^="/verify?order="]')
  await page.waitForSelector('#result .panel.good')
  assert.match(await page.innerText('#result .entries'), /\+21/)
  await page.goBack()
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('a[href^="/receipt?order="]')])
  const file = join(directory, 'downloaded.json')
  await download.saveAs(file)
  const url = `${sold.internalUrl}/log`
  const vkey = (await (await fetch(`${url}/keys`)).text()).trim()
  const { code, stdout } = await callCli({ after }, directory, ['verify', file, '--log', url, '--key', vkey])
  assert.equal(code, 0, stdout)
  assert.match(stdout, /one history: 2 checkpoints/)
  await buyer.close()
})
