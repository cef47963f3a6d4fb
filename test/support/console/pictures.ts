// The pictures of docs/pictures. Each has a text beside it: the words on the page when the picture was taken, without ids,
// times and ports. A picture whose text is no longer on the page is stale. Pixels are not compared: fonts differ between
// machines. `npm run pictures` takes all of them again.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { repository } from '../../../harness/processes.ts'

export const pictureDirectory = join(repository, 'docs/pictures')

/** A repository is cloned by everyone: a picture stays below this. */
export const mostPictureBytes = 200_000

/** Set by `npm run pictures`. */
export const isTaking = process.env.PICTURES === 'take'

/** The text nodes of the page, one to a line, below the edge of the picture too. Charts are left out: their axes are dates. */
const visibleText = `(() => {
  const lines = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim().replace(/\\s+/g, ' ')
    const parent = node.parentElement
    if (text === '' || parent.closest('svg, script, style, noscript, [aria-hidden=true]')) continue
    if (parent.checkVisibility()) lines.push(text)
  }
  return lines.join('\\n')
})()`

/** Texts that differ between two runs of the same page. */
const varying: [RegExp, string][] = [
  [/ord_[0-9A-Z]{36}/g, '(order)'],
  [/\b(ord|pay)_[0-9A-Z]+…?|\bpay_…/g, '($1)'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)'],
  [/^\d{8}$/gm, '(approval number)'],
  [/(127\.0\.0\.1|localhost):\d+/g, '$1:(port)'],
  [/\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g, '(time)'],
  [/\b[A-Z][a-z]{2} \d{1,2}, \d{4}|\b\d{4}년 \d{1,2}월 \d{1,2}일|\b\d{4}\. ?\d{1,2}\. ?\d{1,2}\.?/g, '(day)'],
  [/(오전|오후)? ?\b\d{1,2}:\d{2}(:\d{2})?( [AP]M)?/g, '(time)'],
  // The day is shown only while it is not the Korean one.
  [/\(day\) ?\(time\) UTC/g, '(time) UTC'],
  [
    /\b(?:January|February|March|April|May|June|July|August|September|October|November|December)( \d{4})?\b/g,
    '(month)',
  ],
  [/\b(\d{4}년 )?\d{1,2}월/g, '(month)'],
  [/\b\d+ (seconds?|minutes?) ago\b|\b\d+(초|분) 전/g, '(ago)'],
]

export function withoutVarying(text: string): string {
  return varying.reduce((masked, [pattern, name]) => masked.replaceAll(pattern, name), text)
}

/** Takes the picture and its text, or asserts that the page still has the text of the picture. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const text = `${withoutVarying(await page.evaluate<string>(visibleText))}\n`
  const files = { picture: join(pictureDirectory, `${name}.png`), text: join(pictureDirectory, `${name}.txt`) }
  if (isTaking) {
    mkdirSync(pictureDirectory, { recursive: true })
    await page.screenshot({ path: files.picture, animations: 'disabled' })
    writeFileSync(files.text, text)
    return
  }
  assert.ok(existsSync(files.text), `docs/pictures/${name}.txt is missing: npm run pictures`)
  assert.equal(text, readFileSync(files.text, 'utf8'), `docs/pictures/${name}.png is stale: npm run pictures`)
}
