// Fees: prices, and a calculator that explains the fee of a payment.
import { isCurrencyCode, merchantIdPattern, toDecimalText, toPositiveMinorUnits } from '@tillgate/protocol'
import { describeScope, type Price } from '../../../../core/orders/fees/rules/price.ts'
import { walletRailId } from '../../../../core/orders/payments/rules/rail.ts'
import type { Explanation } from '../../../../finance/treasury/manage-prices.ts'
import { type Html, html } from '../../../kit/html.ts'
import { statusBadge } from '../../../kit/pages/status.ts'
import { empty, facts, number, table } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, orRefused, type Visit } from '../../console.ts'
import { suggestionsOf } from '../../suggestions.ts'
import { amount, moment } from '../../words.ts'
import { moneyPath, moneyTabs } from './money.ts'

const path = `${moneyPath}/fees`
const maxShown = 200

export const feesArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const prices = await visit.operations.prices.listPrices(visit.context, undefined, maxShown)
  return {
    title: 'Fees',
    area: 'money',
    beside: actionForms(visit, 'fees'),
    content: html`${moneyTabs(path)}
<h2>Fee calculator</h2>
${calculator(visit.query)}
${await explained(visit)}
<h2>Prices</h2>
${priceTable(prices, visit.nowMs)}
${prices.length === maxShown && html`<p class="quiet">Showing the newest ${maxShown}.</p>`}`,
  }
}

export function priceTable(prices: readonly Price[], nowMs: number): Html {
  const begun = prices.filter(({ validFromMs }) => validFromMs <= nowMs)
  const inForce = new Set([...Map.groupBy(begun, describeScope).values()].map(([newest]) => newest))
  return table(
    'Prices, newest start date first',
    [
      'Applies to',
      'Status',
      number('Fixed'),
      number('Percentage'),
      number('Minimum'),
      number('Maximum'),
      'On refund',
      'Valid from',
    ],
    prices.map((price) => {
      const { terms, currency } = price
      const minor = (of: bigint | undefined) =>
        of === undefined || currency === undefined ? '—' : amount(of, currency)
      return [
        html`<span class="wrap">${describeScope(price)}</span>`,
        stateOf(price, { nowMs, isInForce: inForce.has(price) }),
        minor(terms?.fixedMinor),
        terms ? `${toDecimalText(BigInt(terms.basisPoints), 'USD')}%` : '—',
        minor(terms?.leastMinor),
        minor(terms?.mostMinor),
        terms ? (terms.returnsFee ? 'Returns a proportional part' : 'Keeps the fee') : '—',
        moment(price.validFromMs, nowMs),
      ]
    }),
    { none: 'No prices yet. Payments are free for merchants.' },
  )
}

function stateOf(price: Price, { nowMs, isInForce }: { nowMs: number; isInForce: boolean }): Html {
  if (price.validFromMs > nowMs) return statusBadge('wait', price.terms ? 'Scheduled' : 'End scheduled')
  if (!price.terms) return statusBadge('off', 'Ended')
  return isInForce ? statusBadge('good', 'Active') : statusBadge('off', 'Replaced')
}

function calculator(query: URLSearchParams): Html {
  const field = (name: string, label: string, attributes: Html) =>
    html`<label${name === 'merchant' && html` class="number-of-18"`}>${label}<input name="${name}" value="${query.get(name)}" autocomplete="off" spellcheck="false"${attributes}></label>`
  return html`<form class="filters">
${field('merchant', 'Merchant', html` maxlength="18" required${suggestionsOf('merchants')}`)}
${field('amount', 'Amount', html` inputmode="decimal" maxlength="30" required placeholder="12.50"`)}
${field('currency', 'Currency', html` maxlength="3" required placeholder="USD"${suggestionsOf('currencies')}`)}
${field('rail', 'Rail', html` maxlength="32" placeholder="${walletRailId}"${suggestionsOf('rails')}`)}
<button>Calculate</button></form>`
}

async function explained(visit: Visit): Promise<Html | undefined> {
  const given = (name: string) => (visit.query.get(name) ?? '').trim()
  const [merchantId, currency] = [given('merchant'), given('currency').toUpperCase()]
  if (merchantId === '' || given('amount') === '') return undefined
  if (!merchantIdPattern.test(merchantId)) return empty('Enter a merchantId of 18 letters or digits.')
  if (!isCurrencyCode(currency)) return empty('Enter an ISO 4217 currency code, such as USD.')
  const result = await orRefused(async () => {
    const amountMinor = toPositiveMinorUnits(given('amount'), currency, 'amount')
    const railId = given('rail') || walletRailId
    const priced = { merchantId, railId, currency, amountMinor, atMs: visit.nowMs }
    return { amountMinor, found: await visit.operations.prices.explainFee(visit.context, priced) }
  })
  if (typeof result === 'string') return empty(result)
  return explanation(result.found, { amountMinor: result.amountMinor, currency })
}

function explanation(
  { feeMinor, netMinor, considered }: Explanation,
  { amountMinor, currency }: { readonly amountMinor: bigint; readonly currency: string },
): Html {
  return html`<div class="grid"><section>${facts([
    ['Paid', amount(amountMinor, currency)],
    ['Fee', amount(feeMinor, currency)],
    ['Net', amount(netMinor, currency)],
  ])}</section>
<section>${table(
    'Matching prices, most specific first',
    ['Price', 'Explanation'],
    considered.map(({ scope, why }) => [html`<span class="wrap">${scope}</span>`, why]),
    { none: 'No price matches this payment, so it is free.' },
  )}</section></div>`
}
