// Where a shop owner begins: what there is, what came today, what needs them, and until the first payment what to do next.

import { availableMinor } from '../../../core/ledger/rules/transfer.ts'
import type { Account } from '../../../core/ledger/store/ledger.ts'
import type { Merchant, MerchantKey } from '../../../core/merchants/rules/merchant.ts'
import type { Attention, OrderTally } from '../../../finance/overview/store/merchant-figures.ts'
import { countedAtMost, talliedAtMost } from '../../../finance/overview/store/merchant-figures.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { card, countUpTo, empty } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import { orderCards } from './orders.ts'

const dayMs = 86_400_000
const recentOrders = 5

export const homeArea: readonly PortalRoute[] = [{ path: '', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, nowMs, language } = visit
  const { words } = language
  const [{ merchant, keys }, accounts, tallies, attention, { orders }] = await Promise.all([
    operations.merchants.showMerchant(context, context.merchantId),
    operations.readMerchant.listAccounts(context),
    operations.readMerchant.tallyOrders(context, nowMs - (nowMs % dayMs)),
    operations.readMerchant.countAttention(context, nowMs - dayMs),
    operations.orders.listOrders(context, { merchantId: context.merchantId }, { limit: recentOrders }),
  ])
  const isPaid = accounts.some(({ creditsPostedMinor }) => creditsPostedMinor > 0n)
  return {
    title: words.nav.home,
    area: 'home',
    content: html`${!isPaid && checklist(visit, { merchant, keys, hasOrders: orders.length > 0 })}
<div class="grid">${card(words.home.balance, balance(visit, accounts))}
${card(words.home.today, today(visit, tallies))}</div>
${card(words.home.attention, needs(visit, { merchant, keys, attention }))}
${orders.length > 0 && html`<h2>${words.home.recent}</h2>${orderCards(visit, orders)}`}`,
  }
}

function balance({ language: { words, formats } }: Visit, accounts: readonly Account[]): Content {
  if (accounts.length === 0) return empty(words.home.noMoney)
  return accounts.map((account) => {
    const { currency, debitsPendingMinor: held } = account
    return html`<p class="figure">${formats.money(availableMinor(account), currency)}</p>${
      held > 0n &&
      html`<p class="quiet">${fill(words.home.held, { amount: formats.money(held, currency) })}</p>`
    }`
  })
}

function today({ language: { words, formats } }: Visit, tallies: readonly OrderTally[]): Content {
  const orders = sum(tallies)
  if (orders === 0) return empty(words.home.todayNone)
  const paid = tallies.filter(({ status }) => status === 'success')
  return html`${paid.map(({ currency, amountMinor }) => html`<p class="figure">${formats.money(amountMinor, currency)}</p>`)}
<p>${fill(words.home.todayOrders, { orders: formats.number(orders), paid: formats.number(sum(paid)) })}</p>${
    orders >= talliedAtMost &&
    html`<p class="quiet">${fill(words.home.todayMore, { count: formats.number(talliedAtMost) })}</p>`
  }`
}

function sum(tallies: readonly OrderTally[]): number {
  return tallies.reduce((total, { orders }) => total + orders, 0)
}

interface Shop {
  readonly merchant: Merchant
  readonly keys: readonly MerchantKey[]
}

function hasLive(keys: readonly MerchantKey[], wanted: MerchantKey['kind']): boolean {
  return keys.some(({ kind, revokedAtMs }) => kind === wanted && revokedAtMs === undefined)
}

function needs(
  { language, account }: Visit,
  { merchant, keys, attention }: Shop & { readonly attention: Attention },
): Content {
  const { home } = language.words
  const counted = (text: string, count: number, to: string): Html | false =>
    count > 0 && item(to, fill(text, { count: countUpTo(count, countedAtMost, language) }))
  const found = [
    merchant.status === 'suspended' && item('/settings', home.suspended),
    counted(home.failing, attention.failing, '/callbacks'),
    counted(home.exhausted, attention.exhausted, '/callbacks?state=exhausted'),
    counted(home.waiting, attention.waiting, '/callbacks?state=waiting'),
    counted(home.refused, attention.refused, '/requests'),
    !hasLive(keys, 'rsa') && item('/keys', home.noRsa),
    !hasLive(keys, 'aes') && item('/keys', home.noAes),
    !account.hasSecondStep && item('/account', home.noSecondStep),
  ].filter((each) => each !== false)
  return found.length === 0 ? empty(home.allWell) : html`<ul class="needs">${found}</ul>`
}

function item(to: string, text: Content): Html {
  return html`<li><a href="${pathTo(to)}">${text}</a></li>`
}

function checklist(
  { language: { words } }: Visit,
  { merchant, keys, hasOrders }: Shop & { readonly hasOrders: boolean },
): Html {
  const { home } = words
  const steps = [
    [hasLive(keys, 'rsa') && hasLive(keys, 'aes'), home.stepKeys, home.stepKeysText, pathTo('/keys')],
    [
      merchant.defaultCallbackUrl !== undefined,
      home.stepCallback,
      home.stepCallbackText,
      pathTo('/settings'),
    ],
    [hasOrders, home.stepOrder, home.stepOrderText, '/docs/quickstart'],
    [false, home.stepPaid, home.stepPaidText, pathTo('/orders')],
  ] as const
  return card(
    home.start,
    html`<ol class="steps">${steps.map(
      ([isDone, title, text, to]) =>
        html`<li class="${isDone ? 'good' : 'open'}"><a href="${to}">${title}</a> <span class="hidden">(${isDone ? home.isDone : home.isOpen})</span><br><span class="quiet">${text}</span></li>`,
    )}</ol>`,
  )
}
