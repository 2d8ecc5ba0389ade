// Paying in a store, both ways: the wallet shows a code that the store scans, or the consumer scans or pastes the store's
// code and continues at its checkout.
import { payAddress } from '../../../core/orders/rules/emv-code.ts'
import { isHeld, seenStatus } from '../../../core/orders/rules/order.ts'
import type { ScannedPayment } from '../../../core/orders/scans/list-scanned.ts'
import { groupedDigits } from '../../../core/orders/scans/rules/pay-code.ts'
import { assets } from '../../kit/assets.ts'
import { type Content, Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { fill } from '../../kit/languages/words.ts'
import { qrCode } from '../../kit/pages/qr.ts'
import { scanner } from '../../kit/pages/scanner.ts'
import { statusPill } from '../../kit/pages/status.ts'
import { longTextField } from '../fields.ts'
import { card, walletForm } from '../frame.ts'
import { prefix, refused, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'
import { picture } from './entries.ts'

/** A browser without scripts shows a new code and the payments this often. */
const refreshSeconds = 20

export const inStoreRoutes: readonly WalletRoute[] = [
  { path: '/in-store', show: showCode },
  // The page's script asks for it again and again, without making a new code.
  { path: '/in-store/payments', show: async (visit) => page(visit, await payments(visit)) },
  { path: '/scan', show: scanPage },
  { path: '/scan', act: openScanned },
]

function page({ words }: Visit, content: Html): WalletPage {
  return { title: words.inStore.heading, at: 'home', content }
}

async function showCode(visit: Visit): Promise<WalletPage> {
  const { inStore } = visit.words
  return {
    ...page(
      visit,
      html`${card(inStore.heading, await code(visit))}
${await payments(visit)}`,
    ),
    script: assets.inStoreScript,
    refreshSeconds,
  }
}

async function code(visit: Visit): Promise<Html> {
  const { operations, session, words, language } = visit
  const { inStore } = words
  const made = await operations.showPayCode(session)
  if (!made) return html`<p>${words.refusals.notNow}</p>`
  const [balance] = await operations.listBalances(visit.wallet.walletId)
  const limitMinor = balance && operations.scanLimits.get(balance.currency)
  const text =
    balance && limitMinor !== undefined
      ? fill(inStore.showText, { amount: language.formats.money(limitMinor, balance.currency) })
      : inStore.showAlways
  return html`<div id="pay-code" class="pay-code"><div class="qr" role="img" aria-label="${inStore.code}">${new Html(qrCode(made.token))}</div>
<p class="digits" dir="ltr">${groupedDigits(made.digits)}</p></div>
<p class="quiet">${text}</p>
<p class="ways"><a class="button" href="${prefix}/in-store">${icon('refresh-cw')}<span>${inStore.renew}</span></a><a class="button" href="${prefix}/scan">${icon('qr-code')}<span>${inStore.scan}</span></a></p>`
}

async function payments(visit: Visit): Promise<Html> {
  const scanned = await visit.operations.listScanned(visit.wallet.walletId)
  return html`<div id="payments" role="status">${
    scanned.length > 0 &&
    html`<section class="card pane"><h2>${visit.words.inStore.payments}</h2><ul class="entries">${scanned.map((each) => html`<li>${row(visit, each)}</li>`)}</ul></section>`
  }</div>`
}

function row({ language, words }: Visit, { order, merchant, path }: ScannedPayment): Content {
  const amount = language.formats.money(order.paymentAmountMinor, order.currency)
  const status = seenStatus(order)
  const waits = status === 'pending'
  return html`${picture({ ...merchant, merchantName: merchant.name, kind: 'payment' })}<span class="who"><bdi>${merchant.name}</bdi>${
    waits &&
    html`<a class="button primary" href="${path}"><span>${fill(words.inStore.confirm, { amount })}</span></a>`
  }</span><span class="sum">${!waits && amount}${statusPill(
    status,
    waits ? words.inStore.waiting : language.words[isHeld(order) ? 'authorized' : status].status,
  )}</span>`
}

async function scanPage(visit: Visit): Promise<WalletPage> {
  const { inStore } = visit.words
  return {
    ...page(
      visit,
      card(
        inStore.scan,
        html`<p class="quiet">${inStore.scanText}</p>
${walletForm(
  visit,
  '/scan',
  html`${scanner({ fills: 'content', label: inStore.camera })}
${longTextField({ name: 'content', label: inStore.content, refused: visit.refused })}
<button class="primary" type="submit">${inStore.continue}</button>`,
)}`,
      ),
    ),
    script: assets.scanScript,
  }
}

async function openScanned(visit: Visit, form: URLSearchParams) {
  const path = payAddress(form.get('content') ?? '', visit.origins)
  return path === undefined
    ? refused(visit, 'codeUnknown', { field: 'content' })
    : ({ kind: 'go', to: path } as const)
}
