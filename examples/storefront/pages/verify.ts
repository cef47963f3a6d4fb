// The page that verifies a receipt in the browser. It is one file: style, script and verifier are in it, so a copy that was saved
// years ago still verifies, whatever becomes of the shop.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { texts } from '../texts/texts.ts'
import { verifyTexts } from '../texts/verify.ts'
import { type Html, html } from './html.ts'
import { layout, type View } from './layout.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const verifier = read('../../../client/src/verify/verify.js')
const inline = {
  style: `${read('../public/storefront.css')}${read('../public/verify.css')}`,
  // The page's script imports the verifier; in the page the verifier is in the place of the import.
  script: read('../public/verify.js').replace(/^import .*$/m, () => verifier),
}

/** What the policy of the page has to allow. */
export const inlineHashes = {
  style: hashOf(inline.style),
  script: hashOf(inline.script),
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/** `logKeys`: of the shop's log; none where they are not known. */
export function verifyPage(view: View, logKeys: readonly string[]): string {
  const text = verifyTexts[view.language]
  const { kinds } = texts[view.language].statement
  const keyHint = logKeys.length > 0 ? `${text.keyHint} ${text.keyOfShopHint}` : text.keyHint
  const forScript = JSON.stringify({ ...text, language: view.language, entryKinds: kinds })
  return layout(
    view,
    text.title,
    html`
      <h1>${text.title}</h1>
      <p class="lead">${text.text}</p>
      <form class="panel verify" data-texts="${forScript}" data-keys="${JSON.stringify(logKeys)}">
        <noscript><p class="problem">${text.needsScript}</p></noscript>
        <div class="field">
          <label for="file">${text.file}</label>
          <input id="file" type="file" accept=".json,.txt,application/json,text/plain" aria-describedby="file-hint">
          <small id="file-hint">${text.drop}</small>
        </div>
        ${field('receipt', text.paste, 6)}
        ${field('keys', text.key, 2, keyHint)}
        <button type="submit">${text.check}</button>
      </form>
      <div id="result" aria-live="polite"></div>
      ${logKeys.length === 0 ? null : keysPart(view, logKeys)}`,
    { inline },
  )
}

/** A key is written as its name, `+`, its id, `+`, the key itself. */
function keysPart(view: View, logKeys: readonly string[]): Html {
  const { shopKeys, shopKeysText } = verifyTexts[view.language]
  return html`
      <section class="panel keys">
        <h2>${shopKeys}</h2>
        <p>${shopKeysText}</p>
        <dl>${logKeys.map((key) => html`<div><dt>${key.split('+')[0] ?? ''}</dt><dd><code>${key}</code></dd></div>`)}</dl>
      </section>`
}

function field(id: string, label: string, rows: number, hint: string | null = null): Html {
  const described = hint === null ? null : html` aria-describedby="${id}-hint"`
  return html`
        <div class="field">
          <label for="${id}">${label}</label>
          <textarea id="${id}" rows="${rows}" spellcheck="false" autocomplete="off"${described}></textarea>
          ${hint === null ? null : html`<small id="${id}-hint">${hint}</small>`}
        </div>`
}
