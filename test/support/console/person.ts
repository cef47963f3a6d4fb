// A user of the console in a real Chromium: finds elements by their role and label, not by the structure of the page. An
// error that the page throws or writes to the browser's console fails the test.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { cookieName } from './console.ts'
import type { ConsoleWorld } from './world.ts'

export type Person = Awaited<ReturnType<typeof newPerson>>

type Options = { token?: string; locale?: 'en-US' | 'ko-KR'; isRefused?: boolean }

/** Chromium logs every answer that is not a success. A 401 is ordinary: it leads to the sign-in page. */
const ordinary = /^Failed to load resource: the server responded with a status of 401/
const refusal = /^Failed to load resource: the server responded with a status of 403/

export async function newPerson(browser: Browser, { url }: ConsoleWorld, options: Options = {}) {
  const { token, locale = 'en-US', isRefused = false } = options
  // Without animations: the page is stable, and no time passes until a dialog has faded in.
  const context = await browser.newContext({ locale, viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })
  if (token) await giveSession(context, url, token)
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    const isGrave = ['error', 'warning'].includes(message.type())
    const isExpected = ordinary.test(message.text()) || (isRefused && refusal.test(message.text()))
    if (isGrave && !isExpected) problems.push(message.text())
  })
  return {
    ...actionsOn(page),
    page,
    context,
    problems,
    open: (path: string) => page.goto(`${url}${path}`),
    /** Navigates as a link on the page does. */
    go: (path: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`),
    async leave(): Promise<void> {
      await context.close()
      assert.deepEqual(problems, [], 'errors and warnings of the page')
    },
  }
}

async function giveSession(context: BrowserContext, url: string, value: string): Promise<void> {
  const { hostname: domain } = new URL(url)
  await context.addCookies([
    { name: cookieName, value, domain, path: '/console', httpOnly: true, sameSite: 'Strict' as const },
  ])
}

function actionsOn(page: Page) {
  const dialog = () => page.getByRole('dialog')
  return {
    dialog,
    press: (name: string | RegExp, within: Page | Locator = page) =>
      within.getByRole('button', { name, exact: typeof name === 'string' }).click(),
    follow: (name: string | RegExp, within: Page | Locator = page) =>
      within.getByRole('link', { name, exact: typeof name === 'string' }).click(),
    write: (label: string | RegExp, text: string, within: Page | Locator = page) =>
      within.getByRole('textbox', { name: label }).fill(text),
    /** Enters a reason and confirms; returns when the dialog has closed. */
    async giveReason(reason: string, action: string): Promise<void> {
      const prompt = dialog().filter({ has: page.getByLabel('Reason') })
      await prompt.getByLabel('Reason').fill(reason)
      await prompt.getByRole('button', { name: action, exact: true }).click()
      await prompt.waitFor({ state: 'detached' })
    },
    async search(text: string): Promise<void> {
      await page.getByRole('searchbox', { name: 'Search' }).fill(text)
      await page.keyboard.press('Enter')
    },
    async sees(text: string | RegExp, within: Page | Locator = page): Promise<void> {
      await within.getByText(text).first().waitFor()
    },
    async signIn(name: string, password: string): Promise<void> {
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
    },
    row: (text: string | RegExp) => page.getByRole('row').filter({ hasText: text }),
  }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Accessibility barriers of a page or of an element: each rule with a violation, of any impact, and where. */
export async function barriersOn(
  page: Page,
  { rules, within = 'html' }: { rules?: readonly string[] | undefined; within?: string } = {},
): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axeSource)
  const options = { resultTypes: ['violations'], iframes: false, ...(rules && { runOnly: rules }) }
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`,
  )) as AxeResults
  return violations.map(
    ({ id, nodes }) => `${id} at ${nodes.length}, first ${nodes[0]?.target.join(' ')}: ${nodes[0]?.failureSummary}`,
  )
}

/** Links, buttons and fields that are smaller than 24 px, but for links inside a sentence. */
export function smallTargetsOn(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('a[href], button, summary, select, textarea, input, [role=tab]')]
    .map((each) => ['radio', 'checkbox'].includes(each.type) ? document.querySelector('label[for="' + each.id + '"]') ?? each : each)
    .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.matches(':disabled'))
    .filter((each) => ![...each.parentElement.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((each) => [each, each.getBoundingClientRect()])
    .filter(([, { top, width, height }]) => top > -50 && (width < 24 || height < 24))
    .map(([each, { width, height }]) =>
      Math.round(width) + '×' + Math.round(height) + ' ' + each.tagName + ' ' + (each.ariaLabel || each.textContent).slice(0, 40))`)
}

/** Figures whose value does not fit into one line of their card. */
export function brokenFiguresOn(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('dl > dd:first-of-type')]
    .filter((each) => each.scrollWidth > each.clientWidth || each.clientHeight > 1.6 * parseFloat(getComputedStyle(each).fontSize))
    .map((each) => each.textContent)`)
}

/** Pixels by which the page is wider than the window. A chart takes a few frames to follow a resized window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    function look(frames) {
      const { scrollWidth, clientWidth } = document.documentElement
      if (scrollWidth <= clientWidth || frames === 0) resolve(scrollWidth - clientWidth)
      else requestAnimationFrame(() => look(frames - 1))
    }
    look(60)
  })`)
}

/** Changes the colour scheme of the system; returns when the page has followed. */
export async function setColorScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
  await page.evaluate('Promise.all(document.getAnimations().map((each) => each.finished)).then(() => null)')
}

/** Waits until the page has loaded everything. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  const waiting = page.locator('[aria-busy=true], .mantine-Loader-root, .mantine-Skeleton-root')
  await waiting.first().waitFor({ state: 'detached' })
}

/** Presses Tab until the target has the focus. */
export async function tabTo(page: Page, target: Locator, mostStops = 40): Promise<void> {
  for (let stop = 0; stop < mostStops; stop += 1) {
    await page.keyboard.press('Tab')
    if (await isFocused(target)) return
  }
  assert.fail(`not reachable by keyboard: ${target}`)
}

async function isFocused(target: Locator): Promise<boolean> {
  type Element = { ownerDocument: { activeElement: unknown } }
  return target.first().evaluate((element: Element) => element.ownerDocument.activeElement === element)
}
