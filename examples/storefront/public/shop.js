// A click is one purchase: the form is sent once, and a page restored from memory is reloaded for new tokens.

for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault()
    form.dataset.sent = 'yes'
  })
}
window.addEventListener('pageshow', (event) => {
  if (event.persisted) window.location.reload()
})
