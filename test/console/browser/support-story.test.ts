// An operator's story in a real Chromium, by clicks and visible texts: a customer has paid and has no credits.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { packageOf } from '../../../src/payments/packages.ts'
import { launchBrowser, noBrowser, takePicture } from '../../support/console/browser.ts'
import { newPerson } from '../../support/console/person.ts'
import { startConsoleWorld } from '../../support/console/world.ts'

const browser = await launchBrowser()
after(() => browser?.close())

test('paid and no credits: support signs in, finds the payment, reads the cause, settles the order, and the credits are granted', {
  skip: browser ? false : noBrowser,
}, async () => {
  assert.ok(browser)
  const world = await startConsoleWorld({ after })
  const standard = packageOf('STANDARD')
  const customer = await world.newCustomer('Text analyses')
  const { orderId, paymentKey } = await world.paidWithoutAnswer(customer.client)
  assert.deepEqual([await customer.client.status(orderId), await customer.client.credits()], ['PENDING', 0])

  const firstPassword = await world.newcomer('newcomer', 'support')
  const { page, ...newcomer } = await newPerson(browser, world)
  await newcomer.open('/')
  await newcomer.signIn('newcomer', firstPassword)
  await newcomer.write('Current password', firstPassword)
  await newcomer.write(/^New password$/, 'a sentence that is easy to keep')
  await newcomer.write('Repeat new password', 'a sentence that is easy to keep')
  await newcomer.press('Save password')
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()

  await newcomer.search(paymentKey)
  await page.waitForURL(`**/orders/${orderId}`)
  await newcomer.sees('The gateway has reported the payment as paid: this is being confirmed.')
  await newcomer.sees('Payment confirmation in progress at the gateway')
  const story = page.getByRole('region', { name: 'Timeline' })
  await newcomer.sees('Outcome unknown: The gateway closed the connection', story)
  await takePicture(page, 'story-1-found', { fullPage: true })

  await newcomer.press('Sync with gateway')
  await newcomer.giveReason('the customer called: paid and no credits', 'Sync now')
  await newcomer.sees('Order updated')
  await newcomer.sees('Paid. The credits have been granted.')
  await newcomer.sees('43301234****123*')
  await newcomer.sees('Shown to roles that can refund.')
  await newcomer.sees(`${standard.credits} credits granted, balance ${standard.credits}`, story)
  await newcomer.sees('the customer called: paid and no credits', story)
  await takePicture(page, 'story-1-settled', { fullPage: true })
  assert.deepEqual(
    [await customer.client.status(orderId), await customer.client.credits()],
    ['CONFIRMED', standard.credits],
  )

  await newcomer.follow('Text analyses')
  await page.getByRole('heading', { name: 'Text analyses', level: 1 }).waitFor()
  await newcomer.row('Purchase').getByText(`+${standard.credits}`).waitFor()

  await newcomer.press(/^Your account: newcomer/)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await newcomer.open(`/orders/${orderId}`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await newcomer.leave()
})
