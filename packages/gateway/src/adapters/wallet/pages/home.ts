// The wallet's balances and what moved last. An empty wallet offers the first top-up instead.

import { availableMinor, postedMinor } from '../../../core/ledger/rules/transfer.ts'
import type { Account } from '../../../core/ledger/store/ledger.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { fill } from '../../kit/languages/words.ts'
import { prefix, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'
import { entryList, pendingList } from './entries.ts'
import { presetForm } from './top-up.ts'
import { inOrder, likelyCurrencies } from './top-up-currencies.ts'

const recent = 5
const shownAtOnce = 4

export const homeRoutes: readonly WalletRoute[] = [{ path: '', show: home }]

async function home(visit: Visit): Promise<WalletPage> {
  const { wallet, words, operations } = visit
  const listed = await operations.listBalances(wallet.walletId)
  const balances = inOrder(
    listed.filter((each) => postedMinor(each) > 0n || each.debitsPendingMinor > 0n),
    visit,
  )
  const isEmpty = balances.length === 0
  const currency = isEmpty ? await firstCurrency(visit) : undefined
  const entries = await operations.listWalletHistory(wallet.walletId, { limit: recent })
  const pending = await pendingList(visit)
  return {
    title: words.nav.home,
    at: 'home',
    content: html`<section class="card pane balances"><h1>${fill(words.home.hello, { name: html`<bdi>${wallet.name}</bdi>` })}</h1>
${isEmpty ? emptyBalance(visit, currency) : headline(visit, balances)}</section>
${isEmpty && (await firstTopUp(visit, currency))}
${
  (entries.length > 0 || pending) &&
  html`<section class="card pane"><div class="beside"><h2>${words.home.recent}</h2><a href="${prefix}/history">${words.home.all}</a></div>
${pending}${entries.length > 0 && entryList(visit, entries)}</section>`
}`,
  }
}

/** A few balances; the others are folded. */
function headline({ words, language: { formats } }: Visit, balances: readonly Account[]): Html {
  const [first, ...others] = balances
  const held = ({ debitsPendingMinor, currency }: Account): Content =>
    debitsPendingMinor > 0n &&
    html`<p class="quiet small">${fill(words.home.held, { amount: formats.money(debitsPendingMinor, currency) })}</p>`
  const list = (some: readonly Account[]) =>
    html`<ul class="entries">${some.map((each) => html`<li><span>${each.currency}${held(each)}</span><strong>${formats.money(availableMinor(each), each.currency)}</strong></li>`)}</ul>`
  return html`<p class="label">${words.home.available}</p>
${first && html`<p class="balance">${formats.money(availableMinor(first), first.currency)}</p>${held(first)}`}
${
  others.length > 0 && list(others.slice(0, shownAtOnce))
}${others.length > shownAtOnce && html`<details><summary>${words.home.otherBalances}</summary>${list(others.slice(shownAtOnce))}</details>`}
<p class="ways"><a class="button primary" href="${prefix}/in-store">${icon('qr-code')}<span>${words.inStore.heading}</span></a><a class="button" href="${prefix}/top-up">${icon('plus')}<span>${words.nav.topUp}</span></a><a class="button" href="${prefix}/withdraw">${icon('landmark')}<span>${words.nav.withdraw}</span></a></p>`
}

/** The currency of a pending top-up, or else the likely one. */
async function firstCurrency(visit: Visit): Promise<string | undefined> {
  const [pending] = await visit.operations.listPendingEntries(visit.wallet.walletId)
  const [likely] = await likelyCurrencies(visit)
  return pending?.currency ?? likely
}

function emptyBalance({ words, language }: Visit, currency: string | undefined): Html {
  return html`<p class="label">${words.home.available}</p>
<p class="balance">${language.formats.money(0n, currency ?? 'EUR')}</p>`
}

async function firstTopUp(visit: Visit, currency: string | undefined): Promise<Html> {
  const { words } = visit
  if (currency === undefined)
    return html`<section class="card pane"><h2>${words.nav.topUp}</h2><p class="quiet">${words.topUp.none}</p></section>`
  return html`<section class="card pane"><h2>${words.nav.topUp}</h2><p class="quiet">${words.home.empty}</p>
${await presetForm(visit, currency)}
<p class="after"><a class="link" href="${prefix}/top-up?currency=${currency}"><span>${words.topUp.other}</span></a></p></section>`
}
