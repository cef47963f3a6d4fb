// Every page of the console in a real Chromium, in both languages, light and dark, wide and narrow: it is accessible by
// keyboard and screen reader, nothing overflows, and no operator sees a button that would be refused.
// SCREENSHOTS=directory keeps a picture of each page.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { Browser, Locator } from 'playwright-core'
import { addDays, daysFromTo } from '../../../src/core/korean-days.ts'
import { launchBrowser, noBrowser, takePicture } from '../../support/console/browser.ts'
import {
  barriersOn,
  brokenFiguresOn,
  newPerson,
  overflowOf,
  type Person,
  setColorScheme,
  settled,
  smallTargetsOn,
  tabTo,
} from '../../support/console/person.ts'
import { type ConsoleWorld, fillWorld, startConsoleWorld } from '../../support/console/world.ts'

const browser = (await launchBrowser()) as Browser
const skip = browser ? false : noBrowser
after(() => browser?.close())

type Filled = Awaited<ReturnType<typeof fillWorld>>
const world = (browser && (await startConsoleWorld({ after }))) as ConsoleWorld
const filled = (browser && (await fillWorld(world))) as Filled
const token = browser && (await world.operator('admin')).token

/** The scheme changes only the colours of a page. */
const rulesIn = { light: undefined, dark: ['color-contrast'] } as const
type Scheme = keyof typeof rulesIn
const schemes = Object.keys(rulesIn) as Scheme[]
const windows = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } }
type Size = keyof typeof windows

/** The paths of all pages by name. */
function pagesOf({
  spender: { customerId },
  open,
  unanswered,
  reconciliationId,
  discrepancyId,
  auditId,
  endpointId,
  days,
}: Filled) {
  return {
    home: '/',
    orders: '/orders',
    'order with an open confirm': `/orders/${unanswered}`,
    'order with a discrepancy': `/orders/${open}`,
    search: '/search?q=weather',
    customers: '/customers',
    'customer statement': `/customers/${customerId}`,
    'customer usage': `/customers/${customerId}?tab=use&by=label`,
    'customer orders': `/customers/${customerId}?tab=orders`,
    'customer lots': `/customers/${customerId}?tab=lots`,
    'customer keys': `/customers/${customerId}?tab=keys`,
    'customer holds': `/customers/${customerId}?tab=holds`,
    'customer adjustments': `/customers/${customerId}?tab=adjustments`,
    'customer budgets': `/customers/${customerId}?tab=budgets`,
    'customer limits': `/customers/${customerId}?tab=limits`,
    'customer audit log': `/customers/${customerId}?tab=trail`,
    'books days': `/books?from=${days.from}&to=${days.to}`,
    'books runs': '/books?tab=runs',
    'books run': `/books/runs/${reconciliationId}`,
    'books discrepancies': '/books?tab=discrepancies',
    discrepancy: `/books/discrepancies/${discrepancyId}`,
    'books payments': '/books?tab=payments',
    'books cancels with new keys': '/books?tab=newKeyCancels',
    'books audits': '/books?tab=audits',
    'books audit': `/books/audits/${auditId}`,
    'books transparency log': '/books?tab=log',
    'books exports': '/books?tab=exports',
    events: '/events',
    'event endpoint': `/events/${endpointId}`,
    'event endpoint waiting': `/events/${endpointId}?tab=waiting`,
    'event endpoint dead': `/events/${endpointId}?tab=dead`,
    'service tokens': '/services',
    'audit log': '/trail',
    operators: '/operators',
    password: '/password',
    'no such page': '/nowhere',
  }
}

/** The same pages with other content. */
function variantsOf({ refunded, resolvedId }: Filled) {
  return {
    'discrepancy resolved': `/books/discrepancies/${resolvedId}`,
    'orders of a status': '/orders?status=PENDING',
    'order refunded': `/orders/${refunded}`,
    'search without results': '/search?q=no-such-name',
    'books discrepancies resolved': '/books?tab=discrepancies&state=resolved',
    'audit log of an order': `/trail?subject=${refunded}`,
  }
}

/** The window and scheme in which a language is checked. With SCREENSHOTS every combination is checked. */
type Combination = { size: Size; scheme: Scheme }
const combinations = {
  'en-US': { size: 'wide', scheme: 'light' },
  'ko-KR': { size: 'narrow', scheme: 'dark' },
} as const satisfies Record<string, Combination>
const isThorough = process.env.SCREENSHOTS !== undefined
const pages: Record<string, string> = browser ? { ...pagesOf(filled), ...(isThorough && variantsOf(filled)) } : {}

test('every route of the page is opened by these tests and is in docs/console.md', { skip }, () => {
  const source = readFileSync(new URL('../../../console/src/routes.tsx', import.meta.url), 'utf8')
  const document = readFileSync(new URL('../../../docs/console.md', import.meta.url), 'utf8')
  const routes = [...source.matchAll(/^ {2}\['(\/[^']*)'/gm)].map(([, path = '']) => path)
  assert.ok(routes.length >= 13)
  const opened = Object.values(pages).map((path) => path.split('?')[0] ?? '')
  const documented = [...document.matchAll(/`\/console([^`?]*)[^`]*`/g)].map(([, path = '']) => path || '/')
  for (const route of routes) {
    const pattern = new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`)
    assert.ok(
      opened.some((path) => pattern.test(path)),
      `${route} is not opened`,
    )
    assert.ok(
      documented.some((path) => pattern.test(path)),
      `${route} is not in docs/console.md`,
    )
  }
})

async function faultsOf({ page }: Person, checked: Combination, name: string): Promise<string[]> {
  const faults: string[] = []
  for (const [size, viewport] of Object.entries(windows)) {
    await page.setViewportSize(viewport)
    const overflow = await overflowOf(page)
    if (overflow > 0) faults.push(`${size}: ${overflow} px too wide`)
    if (size === 'narrow') faults.push(...(await smallTargetsOn(page)).map((target) => `small target: ${target}`))
    faults.push(...(await brokenFiguresOn(page)).map((figure) => `${size}: ${figure} does not fit`))
    if (size !== checked.size && !isThorough) continue
    for (const scheme of isThorough ? schemes : [checked.scheme]) {
      await setColorScheme(page, scheme)
      faults.push(...(await barriersOn(page, { rules: rulesIn[scheme] })).map((fault) => `${size} ${scheme}: ${fault}`))
      await takePicture(page, `${name.replaceAll(' ', '-')}-${size}-${scheme}`, { fullPage: true })
    }
  }
  return faults
}

/** Buttons that save a file or copy. */
const notForDialogs = /CSV|receipt|영수증|^Copy|^복사/

/** Presses each button of a page that no page before had, and looks at the dialog that it opens. */
function createDialogCheck({ page, dialog }: Person, { size }: Combination) {
  const [opened, pressed] = [new Set<string>(), new Set<string>()]
  async function faultsOfPage(): Promise<string[]> {
    await page.setViewportSize(windows[size])
    const faults: string[] = []
    const buttons = page.locator('main button:enabled:visible:not([class*="CopyButton"])')
    for (let at = 0; at < (await buttons.count()); at += 1) {
      const button = buttons.nth(at)
      const label = (await button.getAttribute('aria-label')) ?? (await button.innerText())
      // The same one of another row or page.
      const kind = label.replaceAll(/[\d…:]|\b\S*_\S*/g, '').slice(0, 12)
      if (pressed.has(kind) || notForDialogs.test(label)) continue
      pressed.add(kind)
      await button.click()
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
      if ((await dialog().count()) === 0) continue
      await settled(page)
      opened.add(await dialog().getByRole('heading').first().innerText())
      faults.push(...(await barriersOn(page, { within: '[role=dialog]' })).map((fault) => `${label}: ${fault}`))
      if (size === 'narrow') {
        faults.push(...(await smallTargetsOn(page)).map((target) => `${label}: small target: ${target}`))
      }
      await page.keyboard.press('Escape')
      await dialog().waitFor({ state: 'detached' })
    }
    return faults
  }
  return { opened, faultsOfPage }
}

for (const [locale, checked] of Object.entries(combinations) as [keyof typeof combinations, Combination][]) {
  test(`${locale}: the sign-in page is accessible and fits its window`, { skip }, async () => {
    const person = await newPerson(browser, world, { locale })
    await person.open('/')
    await settled(person.page)
    assert.deepEqual(await faultsOf(person, checked, `sign-in-${locale}`), [])
    assert.equal(await person.page.locator('html').getAttribute('lang'), locale.slice(0, 2))
    await person.leave()
  })

  test(`${locale}: every page and dialog is accessible, fits its window, and logs no error`, { skip }, async (t) => {
    const person = await newPerson(browser, world, { locale, token })
    await person.open('/')
    const titles = new Map<string, string>()
    const dialogs = createDialogCheck(person, checked)
    for (const [name, path] of Object.entries(pages)) {
      await t.test(name, async () => {
        await person.go(path)
        await settled(person.page)
        assert.deepEqual(await faultsOf(person, checked, `${name}-${locale}`), [])
        assert.deepEqual(person.problems.splice(0), [])
        const title = await person.page.title()
        const isVariant = !(name in pagesOf(filled))
        assert.ok(
          isVariant || !titles.has(title),
          `the tab of the browser says ${title} for ${name} and ${titles.get(title)}`,
        )
        titles.set(title, name)
        assert.deepEqual(await dialogs.faultsOfPage(), [])
      })
    }
    assert.ok(dialogs.opened.size >= 14, `${dialogs.opened.size} dialogs: ${[...dialogs.opened].join(', ')}`)
    await person.leave()
  })
}

test('a figure is never broken, however large, in both languages, on a phone and on wide screens, and leads to a list that can be sorted', {
  skip,
}, async () => {
  for (const locale of ['en-US', 'ko-KR'] as const) {
    const { page, ...person } = await newPerson(browser, world, { locale, token })
    await page.route('**/console/api/home*', async (route) => {
      const response = await route.fetch()
      const text = (await response.text()).replaceAll(/"(revenue|captured|creditsSold)":\d+/g, '"$1":1111345000')
      await route.fulfill({ response, body: text })
    })
    await person.open('/')
    await settled(page)
    await person.sees('₩1,111,345,000')
    await page.locator('time').first().hover()
    await person.sees(/ UTC$/, page.getByRole('tooltip'))
    for (const width of [390, 1280, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      assert.deepEqual(await brokenFiguresOn(page), [], `${locale} ${width}`)
      assert.equal(await overflowOf(page), 0)
    }
    await page.locator('a[href="/console/customers?sort=balance"]').first().click()
    await page.locator('th[aria-sort=descending]').waitFor()
    await page.locator('th button').first().click()
    await page.waitForURL('**/customers?sort=netPaid')
    await person.leave()
  }
})

/** The buttons of a page for operators with all permissions. */
const buttonsByPage: Record<string, (string | RegExp)[]> = {
  'order with a discrepancy': ['Sync with gateway', 'Refund', 'Resend events'],
  customers: ['New customer'],
  'customer statement': ['Export CSV'],
  'customer usage': ['Export CSV'],
  'customer keys': ['Issue API key', /^Suspend key/, /^Rotate key/],
  'customer limits': ['Change'],
  'books days': [/^Reconcile (now|again): /, 'Export CSV'],
  'books discrepancies': ['Resolve', 'Export CSV'],
  discrepancy: ['Sync with gateway', 'Accept partial cancellation', 'Resolve'],
  'books exports': ['Export CSV'],
  events: ['Add endpoint'],
  'event endpoint': ['Send test event', 'Retry now', 'Disable', 'Rotate secret', 'Remove'],
  'event endpoint waiting': [/^Retry now: /],
  'event endpoint dead': ['Resend all (1)', /^Resend order/],
  'service tokens': ['Issue token', /^Suspend token/, 'Set budget', 'Remove'],
}

test('a viewer sees every page and no button that would be refused; an admin sees all buttons', { skip }, async () => {
  const { token: viewerToken } = await world.operator('viewer')
  const viewer = await newPerson(browser, world, { token: viewerToken, isRefused: true })
  const admin = await newPerson(browser, world, { token })
  for (const person of [viewer, admin]) await person.open('/')
  for (const [name, buttons] of Object.entries(buttonsByPage)) {
    for (const [person, sees] of [
      [viewer, false],
      [admin, true],
    ] as const) {
      await person.go(pages[name] ?? '')
      await settled(person.page)
      for (const button of buttons) {
        // A disabled one says why.
        const shown = person.page
          .getByRole('button', { name: button, disabled: false })
          .or(person.page.getByRole('link', { name: button }))
        assert.equal((await shown.count()) > 0, sees, `${name}: ${button}`)
      }
    }
  }
  assert.equal(await viewer.page.getByRole('link', { name: 'Operators' }).count(), 0)
  assert.equal(await admin.page.getByRole('link', { name: 'Operators' }).count(), 1)
  await viewer.open('/operators')
  await viewer.sees('Your role does not allow this.')
  await viewer.leave()
  await admin.leave()
})

test('an exported file has the days of the fields; for an invalid span and without a session no file is saved, and the page shows why', {
  skip,
}, async () => {
  const { name, token: financeToken } = await world.operator('finance')
  const { page, ...finance } = await newPerson(browser, world, { token: financeToken })
  const { from, to } = filled.days
  await finance.open('/books')
  const [first, last] = ['From', 'To'].map((label) => page.getByLabel(label, { exact: true }))
  await first?.fill(from)
  const saving = page.waitForEvent('download')
  await finance.press('Export CSV')
  const saved = await saving
  const lines = readFileSync(await saved.path(), 'utf8')
    .split('\r\n')
    .slice(1, -1)
  assert.equal(saved.suggestedFilename(), `days-${from}-${to}.csv`)
  assert.deepEqual(
    lines.map((line) => line.slice(0, 10)),
    daysFromTo(from, to).reverse(),
  )

  const button = page.getByRole('button', { name: 'Export CSV' })
  await last?.fill(addDays(from, -1))
  await finance.sees('The start date is after the end date.')
  assert.ok(await button.isDisabled())
  await last?.fill(to)
  await world.database.query(
    'delete from operator_sessions where operator_id = (select operator_id from operators where name = $1)',
    [name],
  )
  await button.click()
  await finance.sees('Your session has ended')
  await finance.leave()
})

test('the keyboard alone is enough: past the navigation, to the search, into a row, out of a dialog', {
  skip,
}, async () => {
  const { page, ...admin } = await newPerson(browser, world, { token })
  await admin.open('/orders')
  await settled(page)
  const { keyboard } = page
  // A dialog moves the focus a moment after it has opened or closed.
  const hasFocus = (target: Locator) => target.and(page.locator(':focus')).waitFor()
  await keyboard.press('Tab')
  await hasFocus(page.getByRole('link', { name: 'Skip to content' }))
  await keyboard.press('Enter')
  await hasFocus(page.getByRole('main'))

  const rows = page.getByRole('table').getByRole('row').getByRole('link', { name: /./ })
  await tabTo(page, page.locator('[data-stop]').first())
  const second = await page.locator('[data-stop]').nth(1).getAttribute('href')
  assert.ok((await rows.count()) > 2)
  for (const key of ['End', 'Home', 'ArrowDown', 'Enter']) await keyboard.press(key)
  await page.waitForURL(`**${second}`)

  await keyboard.press('/')
  await hasFocus(page.getByRole('searchbox', { name: 'Search' }))
  await keyboard.type(filled.unanswered)
  await keyboard.press('Enter')
  await page.waitForURL(`**/orders/${filled.unanswered}`)

  const settle = page.getByRole('button', { name: 'Sync with gateway' })
  await settle.waitFor()
  await tabTo(page, settle)
  await keyboard.press('Enter')
  const reason = admin.dialog().getByLabel('Reason')
  await hasFocus(reason)
  await keyboard.press('Escape')
  await admin.dialog().waitFor({ state: 'detached' })
  await hasFocus(settle)
  await admin.leave()
})
