// Opens the payment window through the official loader, with the values the purchase answered. By itself only when the
// page was just reached: who goes back to it, or reloads it, is not sent away again.

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
    // The buyer has closed the window: there is nothing to explain.
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
// Back from the payment window: the page may come from memory, with the button as it was left.
window.addEventListener('pageshow', (event) => {
  if (event.persisted) button.disabled = false
})
if (performance.getEntriesByType('navigation')[0]?.type === 'navigate') openPaymentWindow()
