// Finance closes a day with three planted differences and a payment of another service, in a real Chromium and from the pages
// alone: the bridge adds up to the difference, each line leads to its discrepancy, and the file is in the language of the page.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { newOrderId } from '../../../src/core/ids.ts'
import { launchBrowser, noBrowser, takePicture } from '../../support/console/browser.ts'
import { barriersOn, newPerson, overflowOf, settled } from '../../support/console/person.ts'
import { type ConsoleWorld, startConsoleWorld } from '../../support/console/world.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : noBrowser

after(() => browser?.close())
const world = (browser && (await startConsoleWorld({ after }))) as ConsoleWorld

async function capture(orderId: string, amount: number): Promise<void> {
  const paymentKey = await world.sandbox.pay(orderId, amount)
  await world.sandbox.capture(paymentKey, orderId, amount)
}

test('a day with three differences is closed from the pages, in both languages, on a desktop and on a phone', {
  skip,
}, async () => {
  const customer = await world.newCustomer('Night trains')
  const orderId = await customer.client.buy('STANDARD')
  await capture(orderId, 20_000)
  await capture(newOrderId(), 7_000)
  await capture('shop-2-0001', 33_000)
  const partly = await customer.client.buy('PRO')
  await world.sandbox.cancel(`pay_${partly}`, 5_000)

  const operator = await world.operator('finance')
  const { page, ...finance } = await newPerson(browser as Browser, world, { token: operator.token })
  await finance.open('/books')
  await finance.press(/^Reconcile now: /, page.getByRole('row').nth(1))
  await finance.giveReason('to close the day', 'Reconcile now')
  await finance.sees(/finished\. Difference ₩55,000, 3 discrepancies\./)
  await page
    .getByRole('row', { name: /^Total/ })
    .getByText('₩55,000', { exact: true })
    .waitFor()
  await takePicture(page, 'books-days', { fullPage: true })

  await finance.follow('Show result')
  await finance.sees(/^Gateway ₩[\d,]+ = books ₩[\d,]+( [+−] ₩[\d,]+){4}$/)
  const run = new URL(page.url()).pathname.replace('/console', '')
  await page.getByText(operator.name, { exact: true }).first().waitFor()
  const line = (name: string) => page.getByRole('table', { name: /^Bridge/ }).getByRole('row', { name })
  await finance.sees('+₩33,000', line('Payment of another service'))
  await finance.sees('+₩7,000', line('Unknown order'))
  await finance.sees('-₩5,000', line('Partially cancelled at the gateway'))
  await finance.sees('Night trains', line('Duplicate payment'))
  assert.deepEqual(await barriersOn(page), [])
  await takePicture(page, 'books-run', { fullPage: true })

  await finance.follow(/^Duplicate payment/, line('Duplicate payment'))
  await finance.sees('+₩20,000')
  await finance.sees('Amount at the gateway minus amount in our books')
  assert.match(await page.title(), /^₩20,000 · Night trains · Duplicate payment · /)
  await takePicture(page, 'books-discrepancy', { fullPage: true })
  await finance.press('Resolve')
  await finance.giveReason('given back in the dashboard of the gateway', 'Resolve')
  await finance.sees('This discrepancy is resolved, and stays resolved as long as the gateway says the same.')

  await finance.open('/books?tab=discrepancies')
  await finance.sees('Open amounts, added up without their signs: ₩12,000')
  await finance.sees('Night trains', finance.row('Partially cancelled at the gateway'))
  await takePicture(page, 'books-discrepancies', { fullPage: true })
  await finance.press('Resolve', finance.row('Unknown order'))
  await finance.giveReason('a test of the staging environment', 'Resolve')
  await finance.follow(/^ord_/, finance.row('Partially cancelled at the gateway'))
  await finance.press('Accept partial cancellation')
  const dialog = finance.dialog()
  const credits = dialog.getByLabel('Credits to deduct')
  await credits.waitFor()
  assert.equal(await credits.inputValue(), '5')
  await finance.write('Reason', 'agreed with the customer', dialog)
  await finance.press('Continue', dialog)
  await finance.sees('For ₩5,000 that the gateway has returned, 5 credits are deducted.', dialog)
  await finance.press('Accept now', dialog)
  await finance.sees('The order stays confirmed. The rest is worth ₩95,000 and can be refunded.')
  await finance.open(run)
  await finance.sees('All discrepancies of this run are resolved.')
  assert.equal(
    await page
      .getByRole('table', { name: /^Bridge/ })
      .getByText('Resolved', { exact: true })
      .count(),
    3,
  )

  await page.setViewportSize({ width: 390, height: 844 })
  await page.evaluate(`localStorage.setItem('console-language', 'ko')`)
  await finance.open(run)
  await finance.sees('차액 내역')
  await settled(page)
  assert.deepEqual([await barriersOn(page), await overflowOf(page)], [[], 0])
  await takePicture(page, 'books-run-ko-390', { fullPage: true })
  await finance.open('/books?tab=exports')
  const saving = page.waitForEvent('download')
  await page.locator('section', { hasText: '결제 내역' }).getByRole('button').click()
  const [head = '', ...rows] = readFileSync(await (await saving).path(), 'utf8').split('\r\n')
  assert.match(head, /시각 \(KST\),시각 \(ISO 8601\),날짜,주문 번호,고객 ID,고객,패키지/)
  assert.ok(
    rows.some((row) => /,Night trains,PRO,.*,부분 취소,-5000,/.test(row)),
    rows.join('\n'),
  )

  await finance.open('/trail')
  await page.getByLabel('운영자').fill(operator.name)
  await page.getByLabel('작업', { exact: true }).selectOption('discrepancies resolve')
  await page.getByRole('button', { name: '조회', exact: true }).click()
  await finance.sees('a test of the staging environment')
  assert.equal(await page.getByText('to close the day').count(), 0)
  assert.deepEqual(await overflowOf(page), 0)
  await takePicture(page, 'action-log-ko-390', { fullPage: true })
  await finance.leave()
})
