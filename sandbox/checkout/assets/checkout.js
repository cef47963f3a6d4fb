// Keyboard and double clicks on the checkout page: Escape cancels, and a form is not sent twice.

const form = document.querySelector('form')

if (form) {
  form.querySelector('input:checked')?.focus()
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.isComposing) form.requestSubmit(form.querySelector('.cancel'))
  })
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault()
    form.dataset.sent = 'yes'
    form.setAttribute('aria-busy', 'true')
  })
  // The browser may restore the page from memory when the buyer goes back.
  window.addEventListener('pageshow', () => {
    delete form.dataset.sent
    form.removeAttribute('aria-busy')
  })
}
