// The panels beside the payments: the next faults, the clock, webhooks and undocumented behaviour, each with its form.

import { type Html, html } from '../checkout/html.ts'
import { formatWon } from '../checkout/page.ts'
import { behaviours } from '../faults/behaviour.ts'
import { type Fault, faultKinds, operations, webhookFaultKinds } from '../faults/faults.ts'
import { koreanTime } from '../payments/payments.ts'
import { addressOf, attemptTexts, clockTime, type View } from './parts.ts'
import { quickFaults } from './texts.ts'

const shownDeliveries = 10

export const advances = ['60000', '600000', '3600000', '86400000'] as const

export function panels(view: View): Html[] {
  return [faultsPanel(view), clockPanel(view), webhooksPanel(view), behaviourPanel(view)]
}

function form(view: View, name: string, content: Html): Html {
  return html`<form method="post" action="${addressOf(view, `/sandbox/page/${name}`)}">${content}</form>`
}

function faultsPanel(view: View): Html {
  const { text } = view
  return html`
          <section class="panel" id="faults" aria-labelledby="faults-title">
            <h2 id="faults-title">${text.faults}</h2>
            <p class="quiet">${text.faultsText}</p>
            ${form(
              view,
              'faults',
              html`<div class="quick">${quickFaults.map(
                (fault) =>
                  html`<button type="submit" name="fault" value="${fault}">${text.quick[fault]} <span class="kind">${fault.replace(' ', ' · ')}</span></button>`,
              )}</div>`,
            )}
            <details id="any-fault">
              <summary class="fold">${text.anyFault}</summary>
              ${form(
                view,
                'faults',
                html`<div class="fields">
                <label class="wide">${text.anyFault} <select name="fault">${faultOptions(view)}</select></label>
                <label>${text.faultTimes} <input type="number" name="times" min="1" max="1000" value="1" required></label>
                <label>${text.delay} <input type="number" name="delayMs" min="0" max="600000" value="3000" required></label>
                <button type="submit">${text.addFault}</button>
              </div>`,
              )}
            </details>
            <div id="faults-now" data-live>${faultLists(view)}</div>
          </section>`
}

function faultOptions({ text }: View): Html[] {
  const groups = operations.map((on) => ({
    on,
    kinds: Object.entries(faultKinds).flatMap(([kind, effect]) =>
      effect.on.includes(on) ? [{ kind, label: text.kinds[kind as keyof typeof faultKinds] }] : [],
    ),
  }))
  const webhook = webhookFaultKinds.map((kind) => ({ kind, label: text.webhookKinds[kind] }))
  return [...groups, { on: 'webhook' as const, kinds: webhook }].map(
    ({ on, kinds }) =>
      html`<optgroup label="${text.targets[on]}">${kinds.map(
        ({ kind, label }) => html`<option value="${on} ${kind}">${text.targets[on]}: ${label} (${kind})</option>`,
      )}</optgroup>`,
  )
}

function faultLists(view: View): Html {
  const { text, sandbox } = view
  const pending = sandbox.faults.remaining()
  const fired = sandbox.faults.fired()
  const line = ({ on, kind, times }: Pick<Fault, 'on' | 'kind' | 'times'>) =>
    html`<li><span class="fault">${on} · ${kind}</span> ${text.timesLeft(times)}</li>`
  return html`
              <h3>${text.pending}</h3>
              ${
                pending.length === 0
                  ? html`<p class="quiet">${text.nothingPending}</p>`
                  : html`<ul class="lines">${pending.map(line)}</ul>
              ${form(view, 'faults/clear', html`<button type="submit" class="quiet-button">${text.clear}</button>`)}`
              }
              <h3>${text.fired}</h3>
              ${fired.length === 0 ? html`<p class="quiet">${text.nothingFired}</p>` : html`<ul class="row">${fired.map(line)}</ul>`}`
}

function clockPanel(view: View): Html {
  const { text, sandbox } = view
  const now = koreanTime(sandbox.clock.now())
  const ahead = Math.round(sandbox.clock.offsetMs() / 60_000)
  return html`
          <section class="panel" id="clock" aria-labelledby="clock-title">
            <h2 id="clock-title">${text.clock}</h2>
            <p id="clock-now" data-live><time class="now" datetime="${now}">${now.slice(0, 10)} ${now.slice(11, 19)}</time>${ahead === 0 ? null : html` <span class="quiet">${text.ahead(ahead)}</span>`}</p>
            <p class="quiet">${text.clockText}</p>
            ${form(
              view,
              'clock',
              html`<div class="row">${advances.map(
                (ms) =>
                  html`<button type="submit" name="advanceMs" value="${ms}" class="quiet-button">${text.advance[ms]}</button>`,
              )}</div>`,
            )}
          </section>`
}

function webhooksPanel(view: View): Html {
  const { text, sandbox } = view
  return html`
          <section class="panel" id="webhooks" aria-labelledby="webhooks-title">
            <h2 id="webhooks-title">${text.webhooks}</h2>
            ${form(
              view,
              'webhook',
              html`<div class="fields">
              <label class="wide">${text.webhookUrl} <input type="url" name="url" value="${sandbox.webhooks.url() ?? ''}" placeholder="http://127.0.0.1:3000/webhooks" aria-describedby="webhook-empty"></label>
              <button type="submit" class="quiet-button">${text.save}</button>
            </div>`,
            )}
            <p class="quiet" id="webhook-empty">${text.noWebhookUrl}</p>
            <h3>${text.deliveries}</h3>
            <div id="deliveries" data-live>${deliveries(view)}</div>
          </section>`
}

function deliveries({ text, sandbox, ...query }: View): Html {
  const newest = sandbox.deliveries.all().slice(-shownDeliveries).reverse()
  if (newest.length === 0) return html`<p class="quiet">${text.noDeliveries}</p>`
  return html`<ul class="lines">${newest.map((delivery) => {
    const { payment, state, atMs } = delivery
    const link = addressOf({ ...query, paymentKey: payment.paymentKey })
    return html`
              <li><span class="badge ${state === 'delivered' ? 'good' : state === 'pending' ? 'open' : 'bad'}">${text.states[state]}</span> <a href="${link}">${formatWon(payment.amount)} ${text.statuses[payment.status]}</a> <span class="quiet line">${clockTime(atMs)}${attemptTexts(text, delivery)}</span></li>`
  })}
            </ul>`
}

function behaviourPanel(view: View): Html {
  const { text, sandbox } = view
  const names = Object.keys(behaviours) as (keyof typeof behaviours)[]
  return html`
          <section class="panel" id="behaviour" aria-labelledby="behaviour-title">
            <h2 id="behaviour-title">${text.behaviour}</h2>
            <p class="quiet">${text.behaviourText}</p>
            <details id="behaviour-values">
              <summary class="fold">${text.change}</summary>
              ${form(
                view,
                'behaviour',
                html`<div class="fields">${names.map(
                  (name) => html`
                <label class="wide">${text.behaviours[name]} <select name="${name}">${behaviours[name].map(
                  (value) =>
                    html`<option value="${String(value)}"${sandbox.behaviour.values[name] === value ? html` selected` : null}>${String(value)}</option>`,
                )}</select></label>`,
                )}
                <label class="wide">${text.behaviours.cancelWindowDays} <input type="number" name="cancelWindowDays" min="0" max="3650" value="${sandbox.behaviour.values.cancelWindowDays}" required></label>
                <button type="submit">${text.save}</button>
              </div>`,
              )}
            </details>
          </section>`
}
