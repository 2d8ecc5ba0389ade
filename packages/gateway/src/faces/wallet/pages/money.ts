// Topping up and withdrawing.
import { Failure, isCurrencyCode, uuidPattern } from '@tillgate/protocol'
import { type Content, type Html, html } from '../../../http/html.ts'
import { fill } from '../../../http/languages/words.ts'
import { availableMinor, postedMinor } from '../../../ledger/rules/transfer.ts'
import { readTypedAmount } from '../../../links/rules/typed-amount.ts'
import { amountField, ibanField, pinField } from '../fields.ts'
import { card, walletForm } from '../frame.ts'
import { demandPin } from '../proof.ts'
import { type Done, prefix, refused, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'

const exampleMinor = 2_500n
const withdrawalsShown = 10

export const moneyRoutes: readonly WalletRoute[] = [
  { path: '/top-up', show: topUpPage },
  { path: '/top-up', act: topUp, back: topUpPage },
  { path: '/withdraw', show: withdrawPage },
  { path: '/withdraw', act: withdraw, back: withdrawPage },
]

async function topUpPage(visit: Visit): Promise<WalletPage> {
  const { wallet, words, service } = visit
  const currencies = await service.startTopUp.currencies()
  // What is there already is most likely what more is wanted of.
  const balances = (await service.listBalances(wallet.walletId)).filter((each) => postedMinor(each) > 0n)
  const content =
    currencies.length === 0
      ? html`<p>${words.topUp.none}</p>`
      : html`<p class="quiet">${words.topUp.text}</p>
${form(
  visit,
  '/top-up',
  html`${amountField({ name: 'amount', label: words.topUp.amount, refused: visit.refused }, currencies, { label: words.topUp.currency, usual: balances[0]?.currency })}
<button class="primary" type="submit">${words.topUp.submit}</button>`,
)}`
  return { title: words.topUp.heading, content: card(words.topUp.heading, content), at: 'topUp' }
}

async function topUp(visit: Visit, given: URLSearchParams): Promise<Done> {
  const { wallet, words, service, language } = visit
  const money = readMoney(visit, given)
  const formNumber = given.get('number') ?? ''
  if (!money || !uuidPattern.test(formNumber)) return amountWrong(visit, given)
  const outcome = await service.startTopUp.start({
    walletId: wallet.walletId,
    ...money,
    formNumber,
    description: words.topUp.description,
  })
  switch (outcome.kind) {
    case 'begun':
      return { kind: 'go', to: outcome.path }
    case 'over_limit':
      return refused('overLimit', {
        field: 'amount',
        values: { room: language.formats.money(outcome.roomMinor, money.currency) },
      })
    case 'no_rail':
      return refused('noRail', { field: 'amount' })
    case 'too_many':
      return refused('tooManyTopUps')
    case 'number_used':
      return refused('formUsed')
  }
}

async function withdrawPage(visit: Visit): Promise<WalletPage> {
  const { wallet, words, service, language } = visit
  const currencies = await service.withdraw.currencies(wallet.walletId)
  const balances = await service.listBalances(wallet.walletId)
  const said = { refused: visit.refused }
  const content =
    currencies.length === 0
      ? html`<p>${words.withdraw.none}</p>`
      : html`<p class="quiet">${fill(words.withdraw.text, { name: html`<bdi>${wallet.name}</bdi>` })}</p>
${balances
  .filter(({ currency }) => currencies.includes(currency))
  .map(
    (each) =>
      html`<p>${fill(words.withdraw.available, { amount: language.formats.money(availableMinor(each), each.currency) })}</p>`,
  )}
${form(
  visit,
  '/withdraw',
  html`${amountField({ name: 'amount', label: words.withdraw.amount, ...said }, currencies, { label: words.withdraw.currency })}
${ibanField({ name: 'iban', label: words.withdraw.iban, ...said })}
${pinField({ name: 'pin', label: words.withdraw.pin, ...said })}
<button class="primary" type="submit">${words.withdraw.submit}</button>`,
)}`
  return {
    title: words.withdraw.heading,
    content: html`${card(words.withdraw.heading, content)}${await withdrawals(visit)}`,
    at: 'withdraw',
  }
}

async function withdrawals({ wallet, words, service, language }: Visit): Promise<Content> {
  const all = await service.withdraw.list(wallet.walletId, withdrawalsShown)
  if (all.length === 0) return undefined
  return html`<section class="card pane"><h2>${words.withdraw.before}</h2><ul class="entries">${all.map(
    ({ amountMinor, currency, status, requestedAtMs, account }) =>
      html`<li><span>${words.withdraw[status]}<small class="quiet">${language.formats.time(requestedAtMs)} · …${account.iban?.slice(-4)}</small></span>${language.formats.money(amountMinor, currency)}</li>`,
  )}</ul></section>`
}

async function withdraw(visit: Visit, given: URLSearchParams): Promise<Done> {
  const money = readMoney(visit, given)
  if (!money) return amountWrong(visit, given)
  const refusal = await demandPin(visit, given.get('pin') ?? '')
  if (refusal) return refusal
  const { wallet, address, service } = visit
  const iban = given.get('iban') ?? ''
  try {
    await service.withdraw.request({
      wallet,
      ...money,
      iban,
      address,
      formNumber: given.get('number') ?? '',
    })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    if (error.field === 'iban') return refused('ibanWrong', { field: 'iban' })
    if (error.field === 'amount') return refused('tooLittle', { field: 'amount' })
    return refused('notNow')
  }
  return { kind: 'go', to: `${prefix}/withdraw`, note: 'withdrawn' }
}

/** Done once, however often it is sent: one that comes back keeps its number, but where something else was done by it. */
function form(visit: Visit, path: string, fields: Html): Html {
  const kept = visit.refused?.code === 'formUsed' ? '' : (visit.refused?.typed.get('number') ?? '')
  return walletForm(
    visit,
    path,
    html`<input type="hidden" name="number" value="${uuidPattern.test(kept) ? kept : visit.newNumber()}">
${fields}`,
  )
}

function readMoney(_visit: Visit, given: URLSearchParams) {
  const currency = given.get('currency') ?? ''
  if (!isCurrencyCode(currency)) return undefined
  const amountMinor = readTypedAmount(given.get('amount') ?? '', currency)
  return amountMinor === undefined ? undefined : { currency, amountMinor }
}

function amountWrong({ language }: Visit, given: URLSearchParams): Done {
  const currency = given.get('currency') ?? ''
  const example = language.formats.money(exampleMinor, isCurrencyCode(currency) ? currency : 'EUR')
  return refused('amountWrong', { field: 'amount', values: { example } })
}
