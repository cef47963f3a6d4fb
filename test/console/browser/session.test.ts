// The shell of the console in a real Chromium: a session that ends while the operator types, a link opened before signing
// in, and the choice of language and colours.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, noBrowser } from '../../support/console/browser.ts'
import { signedIn } from '../../support/console/console.ts'
import { barriersOn, newPerson, settled } from '../../support/console/person.ts'
import { type ConsoleWorld, startConsoleWorld } from '../../support/console/world.ts'

const browser = (await launchBrowser()) as Browser
const skip = browser ? false : noBrowser
after(() => browser?.close())
const world = (browser && (await startConsoleWorld({ after }))) as ConsoleWorld

const ownPassword = 'a sentence chosen by the operator'

test('a first password is changed before anything else, at the requested address, and a session that ends keeps the typed text', {
  skip,
}, async () => {
  const customer = await world.newCustomer('Night train')
  const firstPassword = await world.newcomer('mina', 'admin')
  const { page, ...mina } = await newPerson(browser, world)
  const address = `/customers/${customer.customerId}?tab=keys`
  await mina.open(address)
  await mina.signIn('mina', 'not the password')
  await mina.sees('The name or the password is wrong.')
  await mina.signIn('mina', firstPassword)
  await mina.sees('Choose your own to continue.')
  await page.getByLabel('Current password', { exact: true }).fill(firstPassword)
  await page.getByLabel('New password', { exact: true }).fill(ownPassword)
  await page.getByLabel('Repeat new password', { exact: true }).fill('another one of mine')
  await mina.press('Save password')
  await mina.sees('The passwords do not match.')
  await page.getByLabel('Repeat new password', { exact: true }).fill(ownPassword)
  await mina.press('Save password')
  await page.getByRole('button', { name: 'Issue API key' }).click()
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, `/console${address}`)

  await mina.dialog().getByLabel('Reason').fill('lost their key on a train')
  const shown = page.getByText('Night train', { exact: true }).first()
  assert.equal(await shown.isVisible(), true)
  await world.database.query(`delete from operator_sessions where operator_id =
    (select operator_id from operators where name = 'mina')`)
  await mina.press('Issue', mina.dialog())
  await mina.sees('Your session has ended')
  const again = mina.dialog().filter({ hasText: 'Your session has ended' })
  await again.getByLabel('Password', { exact: true }).and(page.locator(':focus')).waitFor()
  assert.equal(await shown.isVisible(), false, 'the page is hidden')
  assert.deepEqual(await barriersOn(page), [])
  await again.getByLabel('Password', { exact: true }).fill(ownPassword)
  await again.getByRole('button', { name: 'Sign in' }).click()
  await again.waitFor({ state: 'detached' })
  assert.equal(await mina.dialog().getByLabel('Reason').inputValue(), 'lost their key on a train')
  assert.equal(await shown.isVisible(), true)
  // Three submits before the page is drawn again.
  await page.evaluate(`for (const _ of [1, 2, 3]) document.querySelector('[role=dialog] form').requestSubmit()`)
  const secret = page.getByLabel('API key', { exact: true })
  assert.match(await secret.inputValue(), /^cpk_\w{43}$/)
  await page.setViewportSize({ width: 390, height: 844 })
  type Box = Record<'scrollWidth' | 'clientWidth' | 'scrollHeight' | 'clientHeight', number>
  const isWhole = (box: Box) => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight
  assert.ok(await secret.evaluate(isWhole), 'the end of the key can be seen')
  assert.deepEqual(await barriersOn(page), [])
  await page.setViewportSize({ width: 1280, height: 900 })
  const { keys } = await (await world.operator('admin')).get('customer', { params: customer })
  assert.equal(keys.length, 2, 'the first key, and exactly one more')
  await mina.leave()
})

test('an idle page hides its content when its session has ended', { skip }, async () => {
  const { token } = await signedIn(world, 'viewer', 'idle-viewer')
  const { page, ...reader } = await newPerson(browser, world, { token })
  await page.clock.install()
  await reader.open('/customers')
  const title = page.getByRole('heading', { name: 'Customers', level: 1 })
  await title.waitFor()
  await settled(page)
  await world.database.query(`update operator_sessions set last_seen_at = now() - interval '31 min'
    where operator_id = 'opr_idle-viewer'`)
  await page.clock.fastForward('31:00')
  await reader.sees('Your session has ended')
  await title.waitFor({ state: 'hidden' })
  await reader.leave()
})

test('language and light or dark mode are chosen by clicks, are kept for the next visit, and are in no link', {
  skip,
}, async () => {
  const { token } = await world.operator('viewer')
  const { page, ...reader } = await newPerson(browser, world, { token, locale: 'ko-KR' })
  await reader.open('/')
  await page.getByRole('heading', { name: '홈', level: 1 }).waitFor()
  await page.getByRole('button', { name: /^내 계정/ }).click()
  assert.deepEqual(await barriersOn(page), [])
  await page.getByText('다크').click()
  await page.getByText('English').click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  assert.equal(page.url(), `${world.url}/`)
  await page.reload()
  await settled(page)
  const root = page.locator('html')
  assert.deepEqual(
    [await root.getAttribute('lang'), await root.getAttribute('data-mantine-color-scheme')],
    ['en', 'dark'],
  )
  assert.match(await page.title(), /^Home · /)
  await page.getByRole('button', { name: /^Your account/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
  await reader.open('/orders')
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
  await reader.leave()
})

test('a browser whose language has no valid tag gets the page, as where the locale of its machine is C', {
  skip,
}, async () => {
  const { token } = await world.operator('finance')
  const { page, ...reader } = await newPerson(browser, world, { token })
  await page.addInitScript(`Object.defineProperty(navigator, 'languages', { value: ['en-US@posix'] })`)
  await reader.open('/')
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await reader.leave()
})

test('the charts of the first page can be shown as tables, and their span is in the link', { skip }, async () => {
  const { client } = await world.newCustomer('A buyer')
  await client.buy('STANDARD')
  const { token } = await world.operator('finance')
  const { page, ...finance } = await newPerson(browser, world, { token })
  await finance.open('/?days=7')
  const netPaid = page.getByRole('region', { name: 'Net payments per day' })
  await netPaid.getByRole('button', { name: 'Show as table' }).click()
  assert.equal(await netPaid.getByRole('row').count(), 1 + 7)
  assert.match((await netPaid.getByRole('row').nth(1).textContent()) ?? '', /₩20,000₩0₩20,000$/)
  await page.getByText('90 days').click()
  await page.waitForURL('**/console/?days=90')
  await netPaid.getByRole('row').nth(90).waitFor()
  assert.deepEqual(await barriersOn(page), [])
  await finance.leave()
})

test('text typed for one key is not kept for another, an action without a network is not sent later, and after a sign-in as another operator the page starts anew', {
  skip,
}, async () => {
  const { customerId } = await world.newCustomer('Two keys')
  const admin = await world.operator('admin')
  const issued = await admin.get('issueKey', { params: { customerId }, body: { reason: 'a second one' } })
  const { page, context, ...support } = await newPerson(browser, world, {
    token: (await world.operator('support')).token,
  })
  await support.open(`/customers/${customerId}?tab=keys`)
  const suspends = page.getByRole('button', { name: /^Suspend key/ })
  const reason = support.dialog().getByLabel('Reason')
  await suspends.nth(0).click()
  await reason.fill('found in a public repository')
  await support.press('Cancel', support.dialog())
  await suspends.nth(1).click()
  assert.equal(await reason.inputValue(), '')

  await reason.fill('left\tthe company')
  assert.equal(await reason.inputValue(), 'left the company', 'in one line')
  await context.setOffline(true)
  await support.press('Suspend', support.dialog())
  await support.sees('The service did not respond.', support.dialog())
  await context.setOffline(false)
  support.problems.splice(0)
  await support.press('Cancel', support.dialog())
  await support.dialog().waitFor({ state: 'detached' })
  const { keys } = await admin.get('customer', { params: { customerId } })
  const states = keys.map(({ status }) => status)
  assert.deepEqual(states, ['ACTIVE', 'ACTIVE'], 'the action was not sent later')

  await suspends.nth(0).click()
  await reason.fill('still typing')
  const [cookie] = await context.cookies()
  assert.ok(cookie)
  await context.addCookies([{ ...cookie, value: (await world.operator('finance')).token }])
  const held = Promise.withResolvers<void>()
  await page.route(`**/customers/${customerId}*`, (route) => held.promise.then(() => route.continue()))
  await page.evaluate(`window.dispatchEvent(new Event('focus'))`)
  await page.getByRole('button', { name: 'Your account: finance, Finance' }).waitFor()
  assert.equal(await suspends.count(), 0, 'nothing that was loaded for another operator')
  held.resolve()
  await settled(page)
  assert.equal(await support.dialog().count(), 0)
  await suspends.nth(0).click()
  assert.equal(await reason.inputValue(), '', 'no text of another operator')
  await support.press('Cancel', support.dialog())
  await support.dialog().waitFor({ state: 'detached' })

  await page.keyboard.press('/')
  await page.keyboard.type(`"${issued.apiKey}",`)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/customers/${customerId}?tab=keys`)
  assert.equal(await page.getByRole('searchbox', { name: 'Search' }).inputValue(), '', 'a typed key is not shown again')
  await support.leave()
})
