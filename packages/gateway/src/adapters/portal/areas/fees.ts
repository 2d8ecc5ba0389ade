// The shop's fees: which price applies to each payment method, why, and this month's total.

import { makePriceBook, type Price, type Terms } from '../../../core/orders/fees/rules/price.ts'
import { walletRailId } from '../../../core/orders/payments/rules/rail.ts'
import { type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { empty, facts } from '../../kit/pages/tables.ts'
import { card, moneyTabs, tabs } from '../parts.ts'
import type { PortalPage, PortalRoute, Visit } from '../portal.ts'

export const feesArea: readonly PortalRoute[] = [{ path: '/fees', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, nowMs } = visit
  const { words } = visit.language
  const [prices, accounts, billed] = await Promise.all([
    operations.readMerchant.listPrices(context),
    operations.readMerchant.listAccounts(context),
    operations.readMerchant.billedFees(context, `${new Date(nowMs).toISOString().slice(0, 7)}-01`),
  ])
  const used = [...accounts.map(({ currency }) => currency), ...prices.map(({ currency }) => currency)]
  const currencies = [...new Set(used)].filter((code) => code !== undefined).toSorted()
  return {
    title: words.tabs.fees,
    area: 'money',
    content: html`${tabs(visit, moneyTabs, 'fees')}<p>${words.fees.text}</p>
${currencies.length === 0 ? empty(words.fees.free) : currencies.map((currency) => priceCard(visit, prices, currency))}
${card(words.fees.month, monthly(visit, billed))}`,
  }
}

function priceCard({ context, nowMs, language }: Visit, prices: readonly Price[], currency: string): Html {
  const { words } = language
  const rails = new Set([walletRailId, ...prices.flatMap(({ railId }) => railId ?? [])])
  const book = makePriceBook(prices)
  return card(
    currency,
    facts(
      [...rails].map((railId) => {
        const price = book.find({ merchantId: context.merchantId, railId, currency }, nowMs)
        const name = railId === walletRailId ? words.fees.wallet : railId
        return [name, price?.terms ? said(price, price.terms, currency, language) : words.fees.free] as const
      }),
    ),
  )
}

function said(
  { merchantId }: Price,
  { basisPoints, fixedMinor, leastMinor, mostMinor, returnsFee }: Terms,
  currency: string,
  { words, formats }: Visit['language'],
): Html {
  const { fees } = words
  const money = (minor: bigint) => formats.money(minor, currency)
  const parts = [
    basisPoints > 0 && html`<bdi>${formats.number(basisPoints / 100)} %</bdi>`,
    fixedMinor > 0n && money(fixedMinor),
  ].filter((part) => part !== false)
  const [first = money(0n), ...more] = parts
  return html`<strong>${first}${more.map((part) => html` + ${part}`)}</strong>${
    leastMinor !== undefined && html`, ${fill(fees.least, { amount: money(leastMinor) })}`
  }${mostMinor !== undefined && html`, ${fill(fees.most, { amount: money(mostMinor) })}`}<br><span class="quiet">${
    merchantId === undefined ? fees.forAll : fees.own
  } ${returnsFee ? fees.returns : fees.keeps}</span>`
}

function monthly(
  { language: { words, formats } }: Visit,
  billed: readonly { readonly currency: string; readonly minor: bigint; readonly until: string }[],
): Html {
  const [newest] = billed
    .map(({ until }) => until)
    .toSorted()
    .toReversed()
  if (newest === undefined) return empty(words.fees.monthNone)
  return html`${billed.map(({ currency, minor }) => html`<p class="figure">${formats.money(-minor, currency)}</p>`)}<p class="quiet">${fill(words.fees.until, { day: newest })}</p>`
}
