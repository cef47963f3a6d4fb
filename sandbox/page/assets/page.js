// Refreshes the parts of the page that show what happens, without disturbing a person: a part with a focused field, button
// or link waits, and an opened payment stays open.

const everyMs = 2_000

/** The parts as the server sent them last, by id. */
const served = new Map(liveParts(document).map((part) => [part.id, part.innerHTML]))

function liveParts(root) {
  return [...root.querySelectorAll('[data-live]')]
}

function replace(part, content) {
  const open = [...part.querySelectorAll('details[open]')].map(({ id }) => id)
  const focused = part.contains(document.activeElement) ? document.activeElement.closest('details')?.id : undefined
  part.innerHTML = content
  for (const id of open) document.getElementById(id)?.setAttribute('open', '')
  if (focused) document.getElementById(focused)?.querySelector('summary').focus({ preventScroll: true })
}

async function refresh() {
  // A page that answers a form is not at the address of the page: it stays as it is.
  if (document.hidden || location.pathname !== '/sandbox') return
  const response = await fetch(location.href)
  if (!response.ok) return
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const { id, innerHTML } of liveParts(fresh)) {
    const part = document.getElementById(id)
    if (!part || innerHTML === served.get(id) || part.querySelector(':focus:not(summary)')) continue
    served.set(id, innerHTML)
    replace(part, innerHTML)
  }
}

setInterval(() => refresh().catch(() => undefined), everyMs)
