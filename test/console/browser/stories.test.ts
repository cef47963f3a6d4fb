// The tasks of operators in a real Chromium, by clicks and visible texts, beside the first (support-story.test.ts): refund,
// accept a part that was cancelled at the gateway, suspend and rotate a key, reconcile a day with the gateway and resolve its
// discrepancies, repair the deliveries of events, issue a service token, save a receipt.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { silentLog } from '../../../harness/silent-log.ts'
import { until } from '../../../harness/until.ts'
import { createTallies } from '../../../src/core/tallies.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { createOutbound } from '../../../src/events/outbound.ts'
import type { Role } from '../../../src/operators/permissions.ts'
import { packageOf } from '../../../src/payments/packages.ts'
import { expireOrders } from '../../../src/payments/recovery/expire.ts'
import { launchBrowser, noBrowser, takePicture } from '../../support/console/browser.ts'
import { barriersOn, newPerson, overflowOf } from '../../support/console/person.ts'
import { type ConsoleWorld, startConsoleWorld } from '../../support/console/world.ts'
import { startConsumer } from '../../support/events/consumer.ts'
import { deliver, slowSettings } from '../../support/events/world.ts'
import { clientOf, codeOf } from '../../support/service/clients.ts'
import { assertSuccess, testPeppers } from '../../support/service/service.ts'
import { checkReceipt, logEntries } from '../../support/spending/receipts.ts'
import { spendingCalls } from '../../support/spending/spending.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : noBrowser

after(() => browser?.close())
const world = (browser && (await startConsoleWorld({ after }))) as ConsoleWorld

const won = (amount: number) => `₩${amount.toLocaleString('en-US')}`
const standard = packageOf('STANDARD')

async function newOperator(role: Role) {
  return newPerson(browser as Browser, world, { token: (await world.operator(role)).token })
}

test('a part was cancelled in the dashboard: finance asks to take fewer credits, an admin approves it, and the rest keeps its value', {
  skip,
}, async () => {
  const customer = await world.newCustomer('Street noise')
  const orderId = await customer.client.buy('PRO')
  const byApi = await world.operator('finance')
  const cancelPart = async (amount: number) => {
    await world.sandbox.cancel(`pay_${orderId}`, amount)
    await byApi.get('settleOrder', { params: { orderId }, body: { reason: 'the shop has cancelled a part' } })
  }
  await cancelPart(50_000)

  const { page, ...finance } = await newOperator('finance')
  await finance.open(`/orders/${orderId}`)
  await finance.follow('Open discrepancy page')
  await finance.press('Accept partial cancellation')
  const dialog = finance.dialog()
  const credits = dialog.getByLabel('Credits to deduct')
  await finance.sees('Proposed: 50. At most 60, as far as they are unused.', dialog)
  assert.equal(await credits.inputValue(), '50')
  await finance.sees('₩50,000', dialog.getByRole('row', { name: /^Returned by the gateway/ }))
  await finance.sees('60', dialog.getByRole('row', { name: /^Unused credits left/ }))
  await takePicture(page, 'story-part-proposed')
  await credits.fill('61')
  await finance.sees('At most 60: what all that was returned stands for and the bonus of the order', dialog)
  await credits.fill('5')
  await finance.sees('45 credits fewer than the amount stands for.', dialog)
  await finance.sees('It becomes a request, and uses the limit of the operator who approves it.', dialog)
  await finance.sees('A difference of more than 40 credits becomes a request', dialog)
  await finance.write('Reason', 'half of it was our fault', dialog)
  assert.deepEqual(await barriersOn(page, { within: '[role=dialog]' }), [])
  await takePicture(page, 'story-part-fewer')
  await finance.press('Continue', dialog)
  await finance.sees('Request this partial cancellation?', dialog)
  await finance.sees('For ₩50,000 that the gateway has returned, 5 credits are deducted.', dialog)
  await finance.sees('105 credits are left unused. The rest is worth ₩50,000.', dialog)
  await takePicture(page, 'story-part-sure')
  await finance.press('Request approval', dialog)
  await finance.sees('The request is stored: deduct 5 credits for ₩50,000. Nothing was deducted yet.')
  await finance.sees(/^Partial cancellation of order .*: take 5 credits for ₩50,000$/)
  assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0)
  assert.deepEqual(await barriersOn(page), [])
  await takePicture(page, 'story-part-requested', { fullPage: true })
  assert.equal(await customer.client.credits(), 110)
  await finance.leave()

  const token = (await world.operator('admin')).token
  const { page: phone, ...admin } = await newPerson(browser as Browser, world, { token, locale: 'ko-KR' })
  await phone.setViewportSize({ width: 390, height: 844 })
  await admin.open('/')
  await admin.sees('승인 대기 중인 요청')
  await admin.sees(/부분 취소: ₩50,000에 대해 크레딧 5개 회수$/)
  assert.equal(await overflowOf(phone), 0)
  await takePicture(phone, 'story-part-home-ko-390', { fullPage: true })
  await admin.open(`/customers/${customer.customerId}?tab=adjustments`)
  await admin.press('부분 취소 승인 (크레딧 5개 회수)')
  assert.deepEqual([await barriersOn(phone), await overflowOf(phone)], [[], 0])
  await takePicture(phone, 'story-part-approve-ko-390')
  await admin.write('사유', '고객과 합의함', admin.dialog())
  await admin.press('승인', admin.dialog())
  await admin.sees('부분 취소를 승인했습니다.')
  assert.equal(await customer.client.credits(), 105)

  await cancelPart(10_000)
  await admin.open(`/orders/${orderId}`)
  await admin.sees('이 중 ₩50,000이 PG사에서 취소되어 크레딧 5개를 회수했습니다. 나머지는 환불할 수 있습니다.')
  await admin.sees('부분 취소 반영: PG사 환불 금액 ₩50,000, 크레딧 5개 회수')
  assert.deepEqual([await barriersOn(phone), await overflowOf(phone)], [[], 0])
  await takePicture(phone, 'story-part-order-ko-390', { fullPage: true })
  await phone.getByRole('link', { name: '불일치 보기' }).last().click()
  await admin.press('부분 취소 반영')
  await admin.sees('제안: 10개. 미사용 크레딧 중 최대', admin.dialog())
  await admin.write('사유', '고객과 합의함', admin.dialog())
  assert.deepEqual([await barriersOn(phone, { within: '[role=dialog]' }), await overflowOf(phone)], [[], 0])
  await takePicture(phone, 'story-part-proposed-ko-390')
  await admin.press('계속', admin.dialog())
  await admin.sees('PG사에서 환불한 ₩10,000에 대해 크레딧 10개를 회수합니다.', admin.dialog())
  await takePicture(phone, 'story-part-sure-ko-390')
  await admin.press('지금 반영', admin.dialog())
  await admin.sees('잔여 금액 ₩40,000은 나중에 환불할 수 있습니다.')
  await takePicture(phone, 'story-part-done-ko-390', { fullPage: true })
  assert.deepEqual([await customer.client.status(orderId), await customer.client.credits()], ['CONFIRMED', 95])
  await admin.open(`/orders?customerId=${customer.customerId}`)
  await admin.sees('PG사에서 ₩60,000 부분 취소')
  await takePicture(phone, 'story-part-orders-ko-390')
  await admin.leave()
})

test('goodwill of more than is left of the limit of the day is announced as a request before it is stored', {
  skip,
}, async () => {
  const { customerId, client } = await world.newCustomer('Late maps')
  const { page, ...support } = await newOperator('support')
  await support.open(`/customers/${customerId}?tab=adjustments`)
  const grant = async (credits: string, action: string) => {
    await support.press('Grant goodwill credits')
    await support.write('Credits', credits, support.dialog())
    await support.write('Reason', 'slow answers', support.dialog())
    await support.press(action, support.dialog())
  }
  await grant('15', 'Grant')
  await support.sees('15 of 20 credits adjusted today. More than 5 at once need a second operator.')
  await support.press('Grant goodwill credits')
  await support.write('Credits', '6', support.dialog())
  await support.sees('More than the 5 credits that you can adjust alone now: it becomes a request', support.dialog())
  await support.write('Credits', '5', support.dialog())
  assert.ok(await support.dialog().getByRole('button', { name: 'Grant' }).isVisible())
  assert.deepEqual(await barriersOn(page, { within: '[role=dialog]' }), [])
  await support.press('Cancel', support.dialog())
  await grant('6', 'Request approval')
  await support.sees('Stored as a request: another operator has to approve it.')
  assert.equal(await client.credits(), 15)
  await support.leave()
})

test('why was I refused: support finds the order by its reason, reads why in both languages, and leaves a note', {
  skip,
}, async () => {
  const { client } = await world.newCustomer('Sea maps')
  const expired = await client.purchaseCredits({ packageType: 'PRO' })
  await expireOrders(createDatabase(world.database.pool, silentLog), 0)
  const { orderId, amount } = await client.purchaseCredits({ packageType: 'STANDARD' })
  const paymentKey = await world.sandbox.pay(orderId, amount, 'insufficient')
  assert.equal(await codeOf(client.confirmPayment({ orderId, paymentKey, amount })), 'VAL003')

  const { page, ...support } = await newOperator('support')
  await support.open('/orders')
  await page.getByLabel('Reason for failure').selectOption('Insufficient funds or limit')
  await support.sees(`1 order · ${won(amount)} ordered, of it ₩0 paid and not refunded`)
  await page.waitForURL('**/orders?failure=insufficient-funds&status=FAILED')
  await support.sees('Declined', support.row('Sea maps'))
  await support.row('Sea maps').getByRole('link').click()
  await support.sees('Declined: insufficient funds, or the card limit is exceeded. No credits have been granted.')
  await support.sees('Insufficient funds or card limit exceeded (REJECT_CARD_PAYMENT)')
  assert.equal(await page.title(), `${won(amount)} · Sea maps · Order · Prepaid Credits`)
  assert.ok(await page.getByRole('button', { name: 'Refund', exact: true }).isDisabled())
  await support.press('Add note')
  await support.write('Note', 'advised the buyer to use another card', support.dialog())
  await support.press('Save note', support.dialog())
  await support.sees('Note by support', page.getByRole('region', { name: 'Timeline' }))
  await takePicture(page, 'story-refused', { fullPage: true })
  await support.leave()

  const token = (await world.operator('support')).token
  const korean = await newPerson(browser as Browser, world, { token, locale: 'ko-KR' })
  await korean.open(`/orders/${expired.orderId}`)
  await korean.sees(
    '기한 내에 결제하지 않아 만료된 주문입니다. 카드에서 결제된 금액은 없습니다. 크레딧은 지급되지 않았습니다.',
  )
  assert.deepEqual(await barriersOn(korean.page), [])
  await korean.open('/orders?status=FAILED')
  await korean.sees('만료', korean.row('기한 내 미결제'))
  await korean.sees('결제 거절', korean.row('잔액 부족·한도 초과'))
  await korean.page.setViewportSize({ width: 390, height: 844 })
  assert.equal(await overflowOf(korean.page), 0)
  assert.deepEqual(await barriersOn(korean.page), [])
  await korean.leave()
})

test('a refund shows its quote first, offers the unused part or the full price, and does what the second step names', {
  skip,
}, async () => {
  const customer = await world.newCustomer('Image labels')
  const [whole, partlySpent] = [await customer.client.buy('STANDARD'), await customer.client.buy('STANDARD')]
  const { page, ...finance } = await newOperator('finance')

  await finance.open(`/orders/${whole}`)
  const receipt = page.getByRole('link', { name: 'Open the receipt' })
  const link = ['href', 'target', 'rel'].map((name) => receipt.getAttribute(name))
  const [captured] = await world.sandbox.paymentsOf(whole)
  const href = `${world.sandboxUrl}/receipt/${captured?.paymentKey}`
  assert.deepEqual(await Promise.all(link), [href, '_blank', 'noreferrer noopener'])
  await finance.press('Refund')
  const quote = page.getByRole('table', { name: 'Refund preview' })
  await finance.sees(won(standard.price), quote.getByRole('row', { name: /^Refund / }))
  await finance.sees(`${standard.credits}`, quote.getByRole('row', { name: /^Credits to deduct/ }))
  await finance.sees('No credit of this order was used', finance.dialog())
  await finance.sees(`Order of ${won(standard.price)} by Image labels`, finance.dialog())
  await takePicture(page, 'story-2-quote')
  await finance.write('Reason', 'ordered twice by mistake', finance.dialog())
  await finance.press('Continue', finance.dialog())
  await finance.sees('This cannot be undone.', finance.dialog())
  assert.equal(await customer.client.status(whole), 'CONFIRMED')
  await finance.press('Refund now', finance.dialog())
  await finance.sees(`Deducted: ${standard.credits} credits.`)
  assert.deepEqual(
    [await customer.client.status(whole), await customer.client.credits()],
    ['REFUNDED', standard.credits],
  )

  const spent = 5
  assertSuccess(await world.spending.spend(customer.customerId, spent), 200)
  await finance.open(`/orders/${partlySpent}`)
  await finance.press('Refund')
  assert.ok(await page.getByRole('radio', { name: 'Unused part' }).isChecked())
  await finance.sees(won(standard.price - spent * 1_000), quote.getByRole('row', { name: /^Refund / }))
  await finance.sees(`${spent}`, quote.getByRole('row', { name: /^Credits used/ }))
  const rule =
    'Rule from the beginning: full price within 7 days if unused, then 100% of the unused value, at least ₩1,000.'
  await finance.sees(rule, finance.dialog())
  await page.getByRole('radio', { name: 'Full price' }).check()
  await finance.sees(won(standard.price), quote.getByRole('row', { name: /^Refund / }))
  await finance.sees(`${spent}`, quote.getByRole('row', { name: /^Credits not deducted/ }))
  await page.getByRole('radio', { name: 'Unused part' }).check()
  await finance.write('Reason', 'agreed with the customer', finance.dialog())
  await finance.press('Continue', finance.dialog())
  await finance.sees(`${won(15_000)} will be refunded to the card and 16 credits`, finance.dialog())

  assertSuccess(await world.spending.spend(customer.customerId, 1), 200)
  await finance.press('Refund now', finance.dialog())
  await finance.sees('The order or its credits have changed in the meantime.', finance.dialog())
  await finance.sees(won(14_000), quote.getByRole('row', { name: /^Refund / }))
  assert.equal(await customer.client.status(partlySpent), 'CONFIRMED')
  assert.match(finance.problems.splice(0).join(), /status of 400/)
  await finance.press('Continue', finance.dialog())
  await finance.sees(`${won(14_000)} will be refunded to the card and 15 credits`, finance.dialog())
  await finance.press('Refund now', finance.dialog())
  await finance.sees(`${won(14_000)} refunded to the card. Deducted: 15 credits.`)
  await finance.sees(`Refund of ${won(14_000)} requested from the gateway`)
  await finance.sees(rule)
  assert.deepEqual([await customer.client.status(partlySpent), await customer.client.credits()], ['REFUNDED', 0])
  const [payment] = await world.sandbox.paymentsOf(partlySpent)
  assert.equal(payment?.balanceAmount, 6_000, 'the price of the credits that were used stays')
  await finance.leave()
})

test('a key is suspended by clicks and refused within a second, activated again, and rotated; the new key is shown once', {
  skip,
}, async () => {
  const customer = await world.newCustomer('Speech notes')
  const { page, ...support } = await newOperator('support')
  const end = customer.apiKey.slice(-4)
  assert.equal(await codeOf(customer.client.credits()), 'SUCCESS')

  await support.open(`/customers/${customer.customerId}?tab=keys`)
  await support.press(`Suspend key ending in ${end}`)
  await support.giveReason('published in a repository', 'Suspend')
  await support.sees(`Key ending in ${end} suspended.`)
  await until(
    'the suspended key is refused',
    async () => (await codeOf(customer.client.credits())) === 'AUTH003',
    1_000,
  )
  await takePicture(page, 'story-3-suspended')

  await support.sees(/^Only admins can see new keys\./)
  assert.equal(
    await page.getByRole('button', { name: /Rotate|Issue|Activate/ }).count(),
    0,
    'support has no button that makes a key valid',
  )
  await support.leave()

  const { page: adminPage, ...admin } = await newOperator('admin')
  await admin.open(`/customers/${customer.customerId}?tab=keys`)
  await admin.press(`Activate key ending in ${end}`)
  await admin.giveReason('it was another key', 'Activate')
  await until('the key is accepted again', async () => (await codeOf(customer.client.credits())) === 'SUCCESS')

  await admin.press(`Rotate key ending in ${end}`)
  await admin.giveReason('a colleague has left', 'Rotate now')
  const shown = await adminPage.getByLabel('API key', { exact: true }).inputValue()
  assert.match(shown, /^cpk_[0-9A-Za-z]{43}$/)
  assert.equal(await codeOf(clientOf(world.publicUrl, shown).credits()), 'SUCCESS')
  await until('the old key is refused', async () => (await codeOf(customer.client.credits())) === 'AUTH003', 1_000)
  await admin.press('I have copied it')
  await admin.row(shown.slice(-4)).waitFor()
  assert.ok(!(await adminPage.content()).includes(shown), 'the key is not on the page any more')
  assert.ok(!adminPage.url().includes(shown))
  await admin.leave()
})

test('the receipt of an order and of a statement is saved by clicks once the log has the entries, and the log is shown', {
  skip,
}, async () => {
  const customer = await world.newCustomer('Proof readers')
  const orderId = await customer.client.buy('STANDARD')
  const { page, ...support } = await newOperator('support')
  async function saved(name: string | RegExp) {
    const saving = page.waitForEvent('download')
    await support.press(name)
    return JSON.parse(readFileSync(await (await saving).path(), 'utf8'))
  }
  await support.open(`/orders/${orderId}`)
  await support.press('Verifiable receipt')
  await support.sees('Ready in a few seconds.')
  assert.match(support.problems.splice(0).join(), /^Failed to load resource: [^,]* 503[^,]*$/)
  await logEntries(createDatabase(world.database.pool, silentLog))
  const receipt = await saved('Verifiable receipt')
  checkReceipt(receipt)
  assert.deepEqual(receipt.subject, { order: orderId })

  await support.open(`/customers/${customer.customerId}`)
  const statement = await saved('Verifiable receipt, entries 1 to 1')
  checkReceipt(statement)
  assert.deepEqual(statement.subject, { statement: { customer: customer.customerId, from: 1, to: 1 } })

  await support.open('/books?tab=log')
  const saving = page.waitForEvent('download')
  await support.follow('Save the checkpoint')
  assert.equal(readFileSync(await (await saving).path(), 'utf8').split('\n')[0], 'prepaid-credits/log')
  await support.leave()
})

test('a reconciled day differs by a cancel made at the gateway, and its discrepancy is resolved with a note', {
  skip,
}, async () => {
  const customer = await world.newCustomer('Weather maps')
  const orderId = await customer.client.buy('STANDARD')
  const { page, ...finance } = await newOperator('finance')
  await finance.open('/books')
  const today = page.getByRole('row').nth(1)

  async function reconcile(reason: string): Promise<void> {
    await finance.press(/^Reconcile (now|again): /, today)
    await finance.giveReason(`${reason} before the month ends`, 'Reconcile now')
    await finance.sees(/^Reconciliation of .* finished\./)
  }
  await reconcile('check')
  await today.getByText('Matched, so far', { exact: true }).waitFor()
  const moved = await world.movedAtGateway()
  const kept = moved.captured - moved.cancelled
  assert.equal(await today.getByText(won(kept), { exact: true }).count(), 2, 'both sides are the gateway total')
  await today.getByText('₩0', { exact: true }).waitFor()

  const cancelledAmount = 5_000
  await world.sandbox.cancel(`pay_${orderId}`, cancelledAmount)
  await finance.press('Close this notice')
  await reconcile('check again')
  await today.getByText('Mismatch, so far', { exact: true }).waitFor()
  await today.getByText(`-${won(cancelledAmount)}`, { exact: true }).waitFor()
  await takePicture(page, 'story-4-differs', { fullPage: true })
  await finance.follow('Show result')
  await finance.sees(`Difference between gateway and books at the time of the run: -${won(cancelledAmount)}`)
  await finance.sees('Partially cancelled at the gateway')
  await takePicture(page, 'story-4-run', { fullPage: true })
  const run = new URL(page.url()).pathname.replace('/console', '')

  await finance.open('/books?tab=discrepancies')
  const found = finance.row('Partially cancelled at the gateway')
  await found.getByText('Details').click()
  await finance.sees('Check in the dashboard of the gateway who cancelled it.', found)
  await finance.press('Resolve', found)
  await finance.giveReason('agreed with the customer by mail', 'Resolve')
  await finance.sees('No open discrepancies.')
  await page.getByRole('group', { name: 'Open discrepancies, oldest first' }).and(page.locator(':focus')).waitFor()
  await finance.open(run)
  await finance.sees(`Difference between gateway and books at the time of the run: -${won(cancelledAmount)}`)
  await finance.sees('All discrepancies of this run are resolved.')
  await finance.open('/books?tab=discrepancies')
  await page.getByRole('radiogroup', { name: 'Status' }).getByText('Resolved', { exact: true }).click()
  await finance.row('agreed with the customer by mail').waitFor()

  const orders = await exportedFrom('/books?tab=discrepancies&state=resolved')
  assert.match(orders, new RegExp(`PARTLY_CANCELLED_AT_GATEWAY,${orderId},.*agreed with the customer by mail`))
  const [newest = ''] = (await exportedFrom('/books')).split('\r\n').slice(1)
  const { movements, captured, cancelled } = moved
  const [gateway, books] = [
    [captured, cancelled + cancelledAmount, kept - cancelledAmount],
    [captured, cancelled, kept],
  ]
  assert.deepEqual(
    newest.split(',').slice(1, 10),
    ['explained', movements + 1, ...gateway, ...books, -cancelledAmount].map(String),
  )

  const first = await openNewDiscrepancy()
  await finance.press('Resolve')
  await finance.giveReason('seen once more, and still agreed', 'Resolve')
  await finance.sees('This discrepancy is resolved, and stays resolved as long as the gateway says the same.')
  await page.getByRole('region', { name: 'Actions' }).and(page.locator(':focus')).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Resolve', exact: true }).count(), 0)

  const second = await openNewDiscrepancy()
  assert.notEqual(second.discrepancyId, first.discrepancyId)
  await finance.press('Resolve')
  const body = { reason: 'another was faster' }
  await (await world.operator('admin')).get('resolveDiscrepancy', { params: second, body })
  await finance.write('Reason', 'seen a third time', finance.dialog())
  await finance.press('Resolve', finance.dialog())
  await finance.sees('Already resolved.', finance.dialog())
  await finance.press('Cancel', finance.dialog())
  await finance.sees('This discrepancy is resolved, and stays resolved as long as the gateway says the same.')
  await finance.sees('another was faster')
  assert.match(finance.problems.splice(0).join(), /^Failed to load resource: [^,]* 404[^,]*$/)
  await finance.leave()

  /** More goes back at the gateway, and settling the order finds it; opens its page. */
  async function openNewDiscrepancy(): Promise<{ discrepancyId: string }> {
    const admin = await world.operator('admin')
    await world.sandbox.cancel(`pay_${orderId}`, 1_000)
    await admin.get('settleOrder', { params: { orderId }, body: { reason: 'to see whether it still differs' } })
    const { openDiscrepancies } = await admin.get('order', { params: { orderId } })
    const discrepancyId = openDiscrepancies[0]?.discrepancyId ?? assert.fail('nothing was found')
    await finance.open(`/books/discrepancies/${discrepancyId}`)
    return { discrepancyId }
  }

  async function exportedFrom(path: string): Promise<string> {
    await finance.open(path)
    const saving = page.waitForEvent('download')
    await finance.press('Export CSV')
    return readFileSync(await (await saving).path(), 'utf8')
  }
})

test('an endpoint that fails is added, its answer is seen, a test event shows the repair, and the events follow; a service token is issued and suspended', {
  skip,
}, async () => {
  const consumer = await startConsumer()
  const customer = await world.newCustomer('Video captions')
  const { page, ...admin } = await newOperator('admin')
  const outbound = createOutbound({ allowPrivate: true, timeoutMs: 5_000 })
  const database = createDatabase(world.database.pool, silentLog)
  const deliveries = { database, outbound, sealing: testPeppers, settings: slowSettings, log: silentLog }
  const deliverDue = () => deliver({ ...deliveries, tallies: createTallies() })

  await admin.open('/events')
  await admin.press('Add endpoint')
  await admin.write('URL', consumer.url, admin.dialog())
  await admin.dialog().getByLabel('order.confirmed').check()
  assert.deepEqual(await barriersOn(page), [])
  await admin.giveReason('a new service for mails', 'Add')
  const secret = await page.getByLabel('Secret', { exact: true }).inputValue()
  assert.match(secret, /^whsec_/)
  consumer.secrets.push(secret)
  await admin.press('I have copied it')
  assert.ok(!(await page.content()).includes(secret), 'the secret is not on the page any more')

  consumer.react = () => 503
  await customer.client.buy('STANDARD')
  await deliverDue()
  await admin.follow(new URL(consumer.url).host)
  await admin.row('order.confirmed · 1').getByText('HTTP 503').waitFor()
  await admin.sees('Failing', page.getByRole('main'))
  await page.getByRole('tab', { name: 'Waiting' }).click()
  await admin.row('Video captions').getByText('the endpoint responded with HTTP 503').waitFor()
  await takePicture(page, 'story-5-failing', { fullPage: true })

  await admin.press('Send test event')
  await admin.giveReason('is it repaired?', 'Send')
  await admin.sees('The endpoint did not accept the test event.')
  consumer.react = () => 200
  await admin.press('Send test event')
  await admin.giveReason('and now?', 'Send')
  await admin.sees('The endpoint accepted the test event.')
  assert.equal(consumer.received.at(-1)?.payload.type, 'endpoint.test')

  await page.getByRole('tab', { name: 'Deliveries' }).click()
  await admin.press('Retry now')
  await admin.giveReason('it is repaired', 'Retry')
  await admin.sees('The waiting events are due now. Customers: 1.')
  await deliverDue()
  await admin.row('order.confirmed · 1').getByText('HTTP 200').waitFor()
  assert.deepEqual(consumer.taken(customer.customerId), [1])
  await takePicture(page, 'story-5-delivered', { fullPage: true })

  await admin.press('Remove')
  assert.ok(await admin.dialog().getByRole('button', { name: 'Remove' }).isDisabled())
  await admin.dialog().getByLabel('0 waiting and 0 dead events are deleted').check()
  await admin.giveReason('only a trial', 'Remove')
  await admin.sees('Endpoint removed.')

  await admin.follow('Service tokens')
  await admin.press('Issue token')
  await admin.write('Service', 'captions', admin.dialog())
  await admin.giveReason('a new service', 'Issue')
  const token = await page.getByLabel('Token', { exact: true }).inputValue()
  await admin.press('I have copied it')
  const spending = spendingCalls(world.internalUrl, token)
  assertSuccess(await spending.spend(customer.customerId, 1), 200)
  await admin.press(`Suspend token …${token.slice(-4)} of captions`)
  await admin.giveReason('only a trial', 'Suspend')
  await admin.row('captions').getByText('Suspended').waitFor()
  const isRefused = async () => (await spending.spend(customer.customerId, 1)).body.code === 'AUTH003'
  await until('the suspended token is refused', isRefused, 1_000)
  await admin.leave()
  await outbound.close()
  await consumer.close()
})
