// The browser script of the sandbox, in place of Toss's own v2 SDK: defines window.TossPayments with payment() and
// widgets(), redirect mode. The sandbox checks requests; this script checks only what must be known before one is sent.
// Styles are set through the DOM, so that a shop's content security policy needs no exception for them.
;(() => {
  const sandboxUrl = new URL(document.currentScript.src).origin
  const ANONYMOUS = '@@ANONYMOUS'
  // The sandbox's default key counts as both kinds of client key, so that either way to pay works out of the box.
  const keyOfBothKinds = 'test_ck_sandbox'

  class TossPaymentsError extends Error {
    constructor(code, message) {
      super(message)
      this.name = 'TossPaymentsError'
      this.code = code
    }
  }

  function fail(code, message) {
    throw new TossPaymentsError(code, message)
  }

  function checkCustomerKey(customerKey) {
    if (typeof customerKey !== 'string' || !/^[A-Za-z0-9\-_=.@]{2,50}$/.test(customerKey))
      fail('INVALID_CUSTOMER_KEY', 'customerKey: expected 2 to 50 characters out of A-Z a-z 0-9 - _ = . @')
    if (/^(test|live)_g?sk_/.test(customerKey))
      fail('INSECURE_KEY_USAGE', 'customerKey: this is a secret key. It must never reach a browser.')
  }

  /** Opens the window: the sandbox answers with its address, and the page navigates there. */
  async function openWindow(request) {
    let response
    try {
      response = await fetch(`${sandboxUrl}/checkout/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        credentials: 'omit',
        // The window speaks the language of the page that opens it.
        body: JSON.stringify({ ...request, language: document.documentElement.lang }),
      })
    } catch {
      fail('UNKNOWN', 'The sandbox cannot be reached.')
    }
    const answer = await response.json().catch(() => ({}))
    if (!response.ok) fail(answer.code ?? 'UNKNOWN', answer.message ?? 'The sandbox cannot open the window.')
    window.location.assign(answer.checkoutUrl)
  }

  function createPayment(clientKey, { customerKey } = {}) {
    if (/^(test|live)_gck_/.test(clientKey))
      fail('NOT_SUPPORTED_WIDGET_KEY', 'payment() needs a client key of the API individual integration.')
    checkCustomerKey(customerKey)
    return {
      requestPayment: async (request) => {
        if (typeof request !== 'object' || request === null)
          fail('INVALID_PARAMETERS', 'requestPayment: expected an object.')
        const { method, amount, orderId, orderName, successUrl, failUrl } = request
        const order = { method, amount, orderId, orderName, successUrl, failUrl }
        await openWindow({ product: 'payment', clientKey, customerKey, ...order })
      },
      requestBillingAuth: async () => fail('NOT_SUPPORTED_METHOD', 'The sandbox has no billing.'),
      destroy: async () => undefined,
    }
  }

  function element(name, style = {}, ...children) {
    const node = document.createElement(name)
    Object.assign(node.style, style)
    node.append(...children)
    return node
  }

  const boxStyle = {
    boxSizing: 'border-box',
    width: '100%',
    padding: '16px',
    border: '1px solid color-mix(in srgb, currentColor 25%, transparent)',
    borderRadius: '8px',
    font: 'inherit',
  }
  const rowStyle = { display: 'flex', gap: '12px', alignItems: 'center', minHeight: '28px', cursor: 'pointer' }

  const korean = () => (document.documentElement.lang || navigator.language || 'ko').startsWith('ko')

  function choice(type, label) {
    const input = element('input', { width: '18px', height: '18px', margin: '0', flex: 'none' })
    input.type = type
    input.checked = true
    return { input, row: element('label', rowStyle, input, label) }
  }

  /** One box in the shop's page, with its listeners; it can be removed. */
  function createBox(eventName, read) {
    let node = null
    const listeners = []
    return {
      isRendered: () => node !== null,
      show(selector, content, alreadyRendered) {
        if (node !== null) fail(alreadyRendered, 'This box is rendered already: destroy it first.')
        let place = null
        try {
          place = document.querySelector(selector)
        } catch {
          // Not a valid selector: no element either.
        }
        if (place === null) fail('INVALID_SELECTOR', `selector: there is no element for ${selector}.`)
        node = content
        place.replaceChildren(node)
      },
      changed() {
        for (const listener of listeners) listener(read())
      },
      handle: {
        on(event, listener) {
          if (event !== eventName) fail('INVALID_EVENT_PARAMETER', `on: expected ${eventName}.`)
          if (typeof listener !== 'function') fail('INVALID_CALLBACK_PARAMETER', 'on: expected a function.')
          listeners.push(listener)
        },
        async destroy() {
          node?.remove()
          node = null
        },
      },
    }
  }

  function createWidgets(clientKey, { customerKey } = {}) {
    if (/^(test|live)_ck_/.test(clientKey) && clientKey !== keyOfBothKinds)
      fail('NOT_SUPPORTED_API_INDIVIDUAL_KEY', 'widgets() needs a client key of the widget integration.')
    checkCustomerKey(customerKey)

    let amount = null
    let agreed = true
    const termsId = 'sandbox-terms'
    const agreement = () => ({
      agreedRequiredTerms: agreed,
      agreements: [{ term: { id: termsId, required: true }, agreed }],
    })
    const methodsBox = createBox('paymentMethodSelect', () => ({ code: 'CARD' }))
    const agreementBox = createBox('agreementStatusChange', agreement)

    return {
      async setAmount(wanted) {
        if (wanted?.currency !== 'KRW') fail('INVALID_AMOUNT_CURRENCY', 'amount.currency: expected KRW.')
        if (!Number.isSafeInteger(wanted.value)) fail('INVALID_AMOUNT_VALUE', 'amount.value: expected a whole number.')
        amount = { currency: wanted.currency, value: wanted.value }
      },
      async renderPaymentMethods({ selector } = {}) {
        if (amount === null) fail('NOT_SETUP_AMOUNT', 'Call setAmount() first.')
        const { input, row } = choice('radio', korean() ? '신용·체크카드 (샌드박스)' : 'Credit or debit card (sandbox)')
        methodsBox.show(selector, element('div', boxStyle, row), 'PAYMENT_METHODS_WIDGET_ALREADY_RENDERED')
        input.addEventListener('change', methodsBox.changed)
        return { ...methodsBox.handle, getSelectedPaymentMethod: async () => ({ code: 'CARD' }) }
      },
      async renderAgreement({ selector } = {}) {
        const { input, row } = choice(
          'checkbox',
          korean() ? '[필수] 샌드박스 결제 약관에 동의합니다' : 'I agree to the terms of the sandbox (required)',
        )
        agreementBox.show(selector, element('div', boxStyle, row), 'AGREEMENT_WIDGET_ALREADY_RENDERED')
        agreed = true
        input.addEventListener('change', () => {
          agreed = input.checked
          agreementBox.changed()
        })
        return agreementBox.handle
      },
      async requestPayment(request) {
        if (typeof request !== 'object' || request === null)
          fail('INVALID_PARAMETERS', 'requestPayment: expected an object.')
        if (amount === null) fail('NOT_SETUP_AMOUNT', 'Call setAmount() first.')
        if (!methodsBox.isRendered()) fail('NOT_SELECTED_PAYMENT_METHOD', 'Call renderPaymentMethods() first.')
        if (!agreed) fail('NEED_AGREEMENT_WITH_REQUIRED_TERMS', 'The buyer has not agreed to the required terms.')
        const { orderId, orderName, successUrl, failUrl } = request
        await openWindow({
          product: 'widgets',
          clientKey,
          customerKey,
          amount,
          orderId,
          orderName,
          successUrl,
          failUrl,
        })
      },
    }
  }

  function TossPayments(clientKey) {
    if (typeof clientKey !== 'string' || clientKey === '') fail('INVALID_CLIENT_KEY', 'The client key is missing.')
    return {
      payment: (parameters) => createPayment(clientKey, parameters),
      widgets: (parameters) => createWidgets(clientKey, parameters),
    }
  }

  TossPayments.ANONYMOUS = ANONYMOUS
  window.TossPayments = TossPayments
})()
