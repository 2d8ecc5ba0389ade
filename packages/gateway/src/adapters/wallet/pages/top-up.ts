// Topping up: an amount in a currency that a rail takes now. Paying happens on the checkout.
import { toDecimalText, uuidPattern } from '@tillgate/protocol'
import { type Content, type Html, html } from '../../kit/html.ts'
import { nameOfCurrency } from '../../kit/languages/currency-names.ts'
import { amountField } from '../fields.ts'
import { card } from '../frame.ts'
import { type Done, prefix, refused, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'
import { amountWrong, formUsed, moneyForm, readMoney } from './money-form.ts'
import { likelyCurrencies, presetsMinor } from './top-up-currencies.ts'

const path = '/top-up'

export const topUpRoutes: readonly WalletRoute[] = [
  { path, show: topUpPage },
  { path, act: topUp },
]

async function topUpPage(visit: Visit): Promise<WalletPage> {
  const { words, operations, query } = visit
  const currencies = await operations.startTopUp.currencies()
  const likely = await likelyCurrencies(visit)
  const asked = visit.refused?.typed.get('currency') ?? query.get('currency') ?? ''
  const currency = currencies.includes(asked) ? asked : likely[0]
  const near = currency === undefined || likely.includes(currency) ? likely : [currency, ...likely]
  const content =
    currency === undefined
      ? html`<p>${words.topUp.none}</p>`
      : html`<p class="quiet">${words.topUp.text}</p>
${near.length > 1 && likelyLinks(visit, { currency, likely: near })}
${await presetForm(visit, currency)}
${moneyForm(
  visit,
  path,
  html`${amountField({ name: 'amount', label: words.topUp.other, refused: visit.refused }, [...new Set([...near, ...currencies])], { label: words.topUp.currency, usual: currency, tag: visit.language.tag })}
<button class="primary" type="submit">${words.topUp.submit}</button>`,
)}`
  return { title: words.topUp.heading, content: card(words.topUp.heading, content), at: 'topUp' }
}

/** As links, because the suggested amounts follow the currency. */
function likelyLinks(
  { words: { topUp: said }, language: { tag } }: Visit,
  { currency, likely }: Choice,
): Html {
  return html`<ul class="chips" aria-label="${said.currency}">${likely.map(
    (each) =>
      html`<li><a href="${prefix}${path}?currency=${each}"${each === currency && html` aria-current="true"`}><strong>${each}</strong> <span>${nameOfCurrency(each, tag)}</span></a></li>`,
  )}</ul>`
}

interface Choice {
  readonly currency: string
  readonly likely: readonly string[]
}

/** Amounts to tap, as far as a rail takes them. */
export async function presetForm(visit: Visit, currency: string): Promise<Content> {
  const { words, language, operations } = visit
  const amounts = await operations.startTopUp.taken(currency, presetsMinor(currency))
  if (amounts.length === 0) return undefined
  return moneyForm(
    visit,
    path,
    html`<div class="presets" role="group" aria-label="${words.topUp.presets}">${amounts.map(
      (minor) =>
        html`<button type="submit" name="preset" value="${currency} ${toDecimalText(minor, currency)}">${wholeText(minor, currency, language.tag)}</button>`,
    )}</div>`,
  )
}

/** "€20", because presets are whole amounts. */
function wholeText(minor: bigint, currency: string, language: string): string {
  const written = { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' } as const
  return new Intl.NumberFormat(language, written).format(Number(toDecimalText(minor, currency)))
}

async function topUp(visit: Visit, given: URLSearchParams): Promise<Done> {
  const { wallet, words, operations, language } = visit
  const money = readMoney(given)
  const formNumber = given.get('number') ?? ''
  if (!money || !uuidPattern.test(formNumber)) return amountWrong(visit, given)
  const outcome = await operations.startTopUp.start({
    walletId: wallet.walletId,
    ...money,
    formNumber,
    description: words.topUp.description,
  })
  switch (outcome.kind) {
    case 'begun':
      return { kind: 'go', to: outcome.path }
    case 'over_limit':
      return refused(visit, 'overLimit', {
        field: 'amount',
        values: { room: language.formats.moneyText(outcome.roomMinor, money.currency) },
      })
    case 'no_rail':
      return refused(visit, 'noRail', { field: 'amount' })
    case 'too_many':
      return refused(visit, 'tooManyTopUps')
    case 'number_used':
      return formUsed(visit, given)
  }
}
