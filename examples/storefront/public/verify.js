// Verifies what is chosen, dropped or pasted, and shows it. Opened for an order, it loads the receipt of the order from the shop
// and tries again while the order is not in the log yet. Everything from the file is written as text, never as HTML.
import { readKey, verify } from '../../../client/src/verify/verify.js'

const retryAfterMs = 2_000
const retries = 10

const form = document.querySelector('.verify')
const content = document.querySelector('#receipt')
const keyField = document.querySelector('#keys')
const result = document.querySelector('#result')
const words = JSON.parse(form.dataset.texts)
/** Keys of this shop's log, as of when the page was loaded. */
const shopKeys = JSON.parse(form.dataset.keys)

function element(name, attributes, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

const figure = (value) => value.toLocaleString('en-US')
const signed = (value) => `${value > 0n ? '+' : value < 0n ? '−' : ''}${figure(value < 0n ? -value : value)}`

function timeElement(instant) {
  const shown = new Date(instant).toLocaleString(words.language === 'ko' ? 'ko-KR' : 'en-GB', {
    timeZone: 'Asia/Seoul',
    dateStyle: 'medium',
    timeStyle: 'medium',
    hourCycle: 'h23',
  })
  return element('time', { datetime: instant }, shown)
}

function factsOf({ subject, entries, checkpoints }) {
  const newest = checkpoints.at(-1)
  const { customer, from, to } = subject?.statement ?? subject ?? {}
  const code = (value) => element('code', {}, value)
  const signers = (isWitness) =>
    newest.signed.filter((each) => each.isWitness === isWitness).map(({ vkey }) => element('div', {}, code(vkey)))
  const facts = [
    [words.order, subject?.order && [code(subject.order)]],
    [words.reference, subject?.reference && [code(subject.reference)]],
    [words.customer, (customer ?? entries[0]?.customer) && [code(customer ?? entries[0].customer)]],
    [words.span, from !== undefined && [`${from} – ${to}`]],
    [words.entries, subject && [figure(entries.length)]],
    [words.sum, subject && [signed(entries.reduce((sum, { delta }) => sum + delta, 0n))]],
    [words.log, [newest.origin]],
    [words.size, [checkpoints.map(({ size }) => figure(size)).join(' → ')]],
    [words.signedBy, signers(false)],
    [words.cosignedBy, signers(true)],
  ]
  const known = facts.filter(([, values]) => values && values.length > 0)
  const rows = known.map(([term, values]) => element('div', {}, element('dt', {}, term), element('dd', {}, ...values)))
  return element('dl', { class: 'facts' }, ...rows)
}

function tableOf(entries) {
  const heads = [words.what, words.change, words.balance].map((head) => element('th', { scope: 'col' }, head))
  const rows = entries.map(({ kind, time, delta, balance, entry, index, reference }) => {
    const place = `#${entry} · ${words.place} ${figure(index)}`
    const details = reference === undefined ? [] : [element('small', {}, reference), ' ']
    const what = [`${words.entryKinds[kind] ?? kind} `, ...details, timeElement(time), element('small', {}, place)]
    const change = element('td', { class: delta > 0n ? 'plus' : 'minus' }, signed(delta))
    return element('tr', {}, element('td', {}, ...what), change, element('td', {}, figure(balance)))
  })
  const head = element('thead', {}, element('tr', {}, ...heads))
  return element('table', { class: 'entries' }, head, element('tbody', {}, ...rows))
}

function showFound(found, isOfShop) {
  const isVerified = found.result === 'verified'
  const parts = [
    element('h2', {}, isVerified ? words.verified : words.signerNotKnown),
    isVerified
      ? element('p', {}, words.kinds[found.kind])
      : element('p', { class: 'notice' }, words.signerNotKnownText),
    ...(isOfShop ? [element('p', {}, words.keyOfShop)] : []),
    factsOf(found),
  ]
  const panel = element('section', { class: `panel outcome ${isVerified ? 'good' : 'undecided'}` }, ...parts)
  result.replaceChildren(panel, ...(found.entries.length > 0 ? [tableOf(found.entries)] : []))
}

function showProblem(problem, detail) {
  const parts = [element('h2', {}, words.notVerified), element('p', {}, words.problems[problem])]
  if (detail) parts.push(element('p', { class: 'quotation' }, element('code', { lang: 'en' }, detail)))
  result.replaceChildren(element('section', { class: 'panel outcome bad' }, ...parts))
}

/** No problem: the same panel stays until the receipt is there. */
function showNotReady() {
  if (result.querySelector('.waiting')) return
  const parts = [element('h2', {}, words.notReady), element('p', {}, words.notReadyText)]
  result.replaceChildren(element('section', { class: 'panel outcome waiting' }, ...parts))
}

/** Without a code it is an error of JSON, or of a browser that has no Ed25519, or none at an address without https. */
function problemOf({ name, code }) {
  if (name === 'VerifyError') return code
  return name === 'SyntaxError' ? 'format' : 'unsupported'
}

/** A key of a witness was given, and the witness has cosigned nothing in the file. */
async function findMissingWitness({ checkpoints }, keys) {
  const given = await Promise.all(keys.map(readKey))
  const signed = checkpoints.flatMap((checkpoint) => checkpoint.signed.map(({ vkey }) => vkey))
  return given.find(({ isWitness, vkey }) => isWitness && !signed.includes(vkey))?.vkey
}

/** The text of a file as it is: a text field would change the ends of its lines. */
async function check(text = content.value) {
  const given = keyField.value.split('\n').flatMap((line) => line.trim() || [])
  try {
    const hasLogKey = (await Promise.all(given.map(readKey))).some(({ isWitness }) => !isWitness)
    const found = await verify(text, hasLogKey ? given : [...given, ...shopKeys])
    const missing = await findMissingWitness(found, given)
    if (missing) return showProblem('witness', missing)
    showFound(found, !hasLogKey && found.result === 'verified')
  } catch (error) {
    showProblem(problemOf(error), error.message)
  }
}

async function checkFile(file) {
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer())
  } catch {
    content.value = ''
    return showProblem('format')
  }
  content.value = text
  return check(text)
}

async function loadOrder(order, triesLeft) {
  const answer = await fetch(`/receipt?${new URLSearchParams({ order })}`).catch(() => null)
  if (answer?.ok) {
    content.value = await answer.text()
    await check()
    return
  }
  if (answer?.status !== 503 || triesLeft === 0) return showProblem('not-loaded')
  showNotReady()
  setTimeout(() => loadOrder(order, triesLeft - 1), retryAfterMs)
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  check()
})
document.querySelector('#file').addEventListener('change', ({ target }) => {
  if (target.files[0]) checkFile(target.files[0])
})
document.addEventListener('dragover', (event) => event.preventDefault())
document.addEventListener('drop', (event) => {
  event.preventDefault()
  if (event.dataTransfer.files[0]) checkFile(event.dataTransfer.files[0])
})
const orderOfPage = new URLSearchParams(window.location.search).get('order')
if (orderOfPage) loadOrder(orderOfPage, retries)
