// Opens the payment window through the official loader, with the data of the purchase. Automatically only on a new
// navigation: after a reload or going back the buyer stays on the page.

import { ANONYMOUS, loadTossPayments } from '/vendor/tosspayments-sdk.js'

const panel = document.querySelector('#pay')
const button = panel.querySelector('button')
const problem = panel.querySelector('[role=alert]')

async function openPaymentWindow() {
  const { gatewayScript, clientKey, orderId, orderName, amount, successUrl, failUrl } = panel.dataset
  button.disabled = true
  problem.hidden = true
  try {
    const tossPayments = await loadTossPayments(clientKey, { src: gatewayScript })
    await tossPayments.payment({ customerKey: ANONYMOUS }).requestPayment({
      method: 'CARD',
      amount: { currency: 'KRW', value: Number(amount) },
      orderId,
      orderName,
      successUrl,
      failUrl,
    })
  } catch (error) {
    // The buyer has closed the window: no error to show.
    if (error.code === 'USER_CANCEL') {
      button.disabled = false
      return
    }
    problem.querySelector('code').textContent = error.code ?? ''
    problem.hidden = false
    button.disabled = false
    button.focus()
  }
}

button.addEventListener('click', openPaymentWindow)
// Back from the payment window: the browser may restore the page from memory, with a disabled button.
window.addEventListener('pageshow', (event) => {
  if (event.persisted) button.disabled = false
})
if (performance.getEntriesByType('navigation')[0]?.type === 'navigate') openPaymentWindow()
