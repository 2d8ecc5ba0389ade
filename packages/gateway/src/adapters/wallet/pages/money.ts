// Topping up and withdrawing.
import { digitsOf, Failure, isCurrencyCode, toDecimalText, uuidPattern } from '@tillgate/protocol'
import { availableMinor, postedMinor } from '../../../core/ledger/rules/transfer.ts'
import { readTypedAmount } from '../../../finance/links/rules/typed-amount.ts'
import { holderOf } from '../../../finance/payouts/rules/bank-account.ts'
import { maxPayoutMinor } from '../../../finance/payouts/rules/payout-amount.ts'
import type { BankDetails } from '../../../finance/treasury/rules/bank-account.ts'
import { grouped } from '../../../finance/treasury/rules/mod-97.ts'
import type { Withdrawal } from '../../../identity/consumers/withdraw.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import type { LanguageTag } from '../../kit/languages/languages.ts'
import { fill } from '../../kit/languages/words.ts'
import { confirmPin } from '../confirm.ts'
import { amountField, ibanField, pinField } from '../fields.ts'
import { card, walletForm } from '../frame.ts'
import { type Done, prefix, refused, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'

const exampleMinor = 2_500n
const withdrawalsShown = 10

export const moneyRoutes: readonly WalletRoute[] = [
  { path: '/top-up', show: topUpPage },
  { path: '/top-up', act: topUp },
  { path: '/withdraw', show: (visit) => withdrawPage(visit) },
  { path: '/withdraw', act: ask },
  { path: '/withdraw/confirm', page: '/withdraw', act: withdraw },
]

async function topUpPage(visit: Visit): Promise<WalletPage> {
  const { wallet, words, operations } = visit
  const currencies = await operations.startTopUp.currencies()
  // A currency with a balance is the most likely choice.
  const balances = (await operations.listBalances(wallet.walletId)).filter((each) => postedMinor(each) > 0n)
  const usual = [...balances.map(({ currency }) => currency), currencyOf[visit.language.tag]].find(
    (currency) => currency !== undefined && currencies.includes(currency),
  )
  const content =
    currencies.length === 0
      ? html`<p>${words.topUp.none}</p>`
      : html`<p class="quiet">${words.topUp.text}</p>
${usual !== undefined && form(visit, '/top-up', presets(visit, usual))}
${form(
  visit,
  '/top-up',
  html`${amountField({ name: 'amount', label: usual === undefined ? words.topUp.amount : words.topUp.other, refused: visit.refused }, inFront(usual, currencies), { label: words.topUp.currency, usual: usual ?? '' })}
<button class="primary" type="submit">${words.topUp.submit}</button>`,
)}`
  return { title: words.topUp.heading, content: card(words.topUp.heading, content), at: 'topUp' }
}

/** The most common currency among readers of this language. */
const currencyOf: Readonly<Partial<Record<LanguageTag, string>>> = {
  de: 'EUR',
  en: 'USD',
  es: 'EUR',
  fr: 'EUR',
  ja: 'JPY',
  pt: 'BRL',
  zh: 'CNY',
}

/** Multiples of ten dollars or euros; currencies without decimals count in thousands. */
const presetUnits = [1n, 2n, 5n, 10n]

function presets({ words, language }: Visit, currency: string): Html {
  const digits = BigInt(digitsOf(currency))
  const tenMinor = digits === 0n ? 1_000n : 10n ** (digits + 1n)
  return html`<div class="presets" role="group" aria-label="${words.topUp.presets}">${presetUnits.map(
    (units) =>
      html`<button type="submit" name="preset" value="${currency} ${toDecimalText(units * tenMinor, currency)}">${language.formats.money(units * tenMinor, currency)}</button>`,
  )}</div>`
}

function inFront(first: string | undefined, all: readonly string[]): readonly string[] {
  return first === undefined ? all : [first, ...all.filter((each) => each !== first)]
}

async function topUp(visit: Visit, given: URLSearchParams): Promise<Done> {
  const { wallet, words, operations, language } = visit
  const money = readMoney(visit, given)
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

/** `typed` fills the fields again. */
async function withdrawPage(visit: Visit, typed = visit.refused?.typed): Promise<WalletPage> {
  const { wallet, words, operations, language } = visit
  const currencies = await operations.withdraw.currencies(wallet.walletId)
  const balances = await operations.listBalances(wallet.walletId)
  const field = (name: 'amount' | 'iban') => ({
    name,
    label: words.withdraw[name],
    refused: visit.refused,
    value: typed?.get(name) ?? undefined,
  })
  const usual = typed?.get('currency') ?? undefined
  const content =
    currencies.length === 0
      ? html`<p>${words.withdraw.none}</p>`
      : html`<p class="quiet">${fill(words.withdraw.text, { name: html`<bdi>${holderOf(wallet.name)}</bdi>` })} ${shortened(visit)}</p>
${balances
  .filter(({ currency }) => currencies.includes(currency))
  .map(
    (each) =>
      html`<p>${fill(words.withdraw.available, { amount: language.formats.money(availableMinor(each), each.currency) })}</p>`,
  )}
${form(
  visit,
  '/withdraw',
  html`${amountField(field('amount'), currencies, { label: words.withdraw.currency, usual })}
${ibanField(field('iban'))}
<button class="primary" type="submit">${words.topUp.submit}</button>`,
  typed,
)}`
  return {
    title: words.withdraw.heading,
    content: html`${card(words.withdraw.heading, content)}${await withdrawals(visit)}`,
    at: 'withdraw',
  }
}

function shortened({ wallet, words }: Visit): Content {
  return holderOf(wallet.name) === wallet.name ? undefined : words.withdraw.shortened
}

async function withdrawals({ wallet, words, operations, language }: Visit): Promise<Content> {
  const all = await operations.withdraw.list(wallet.walletId, withdrawalsShown)
  if (all.length === 0) return undefined
  return html`<section class="card pane"><h2>${words.withdraw.before}</h2><ul class="entries">${all.map(
    ({ amountMinor, currency, status, requestedAtMs, account }) =>
      html`<li><span>${words.withdraw[status]}<small class="quiet">${language.formats.time(requestedAtMs)} · …${account.iban?.slice(-4)}</small></span>${language.formats.money(amountMinor, currency)}</li>`,
  )}</ul></section>`
}

/** Changes nothing yet: the parsed form is shown for confirmation. */
async function ask(visit: Visit, given: URLSearchParams): Promise<Done> {
  if (given.has('change')) return { kind: 'shown_once', page: await withdrawPage(visit, given) }
  return attempt(visit, given, async (withdrawal) => {
    const account = await visit.operations.withdraw.check(withdrawal)
    return { kind: 'shown_once', page: confirmPage(visit, { ...withdrawal, account }) }
  })
}

interface Asked {
  readonly currency: string
  readonly amountMinor: bigint
  readonly account: BankDetails
  readonly formNumber: string
}

/** Contains what it shows, so that nothing else can be withdrawn. */
function confirmPage(visit: Visit, { currency, amountMinor, account, formNumber }: Asked): WalletPage {
  const { words, language } = visit
  const { withdraw: said } = words
  const iban = account.iban ?? ''
  const carried = { number: formNumber, currency, amount: toDecimalText(amountMinor, currency), iban }
  const facts: readonly (readonly [string, Content])[] = [
    [said.amount, language.formats.money(amountMinor, currency)],
    [said.iban, html`<bdi dir="ltr">${grouped(iban)}</bdi>`],
    [said.holder, html`<bdi>${account.holder}</bdi>`],
  ]
  return {
    title: said.confirm,
    at: 'withdraw',
    content: card(
      said.confirm,
      html`<p class="quiet">${said.check} ${shortened(visit)}</p>
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${walletForm(
  visit,
  '/withdraw/confirm',
  html`${Object.entries(carried).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${pinField({ name: 'pin', label: said.pin, refused: visit.refused })}
<button class="primary" type="submit">${said.submit}</button>
<p class="ways"><button class="button" type="submit" formaction="${prefix}/withdraw" formnovalidate name="change" value="yes">${said.change}</button></p>`,
)}`,
    ),
  }
}

/** If only the PIN was wrong, it is asked for again; everything else is corrected in the first form. */
async function withdraw(visit: Visit, given: URLSearchParams): Promise<Done> {
  const refusal = await confirmPin(visit, given.get('pin') ?? '')
  if (refusal)
    return {
      ...refusal,
      async back(again) {
        const asked = await ask(again, given)
        return asked.kind === 'shown_once' ? asked.page : withdrawPage(again)
      },
    }
  return attempt(visit, given, async (withdrawal) => {
    await visit.operations.withdraw.request({ ...withdrawal, address: visit.address })
    return { kind: 'go', to: `${prefix}/withdraw`, flash: visit.words.notes.withdrawn }
  })
}

async function attempt(
  visit: Visit,
  given: URLSearchParams,
  act: (withdrawal: Withdrawal) => Promise<Done>,
): Promise<Done> {
  const money = readMoney(visit, given)
  if (!money) return amountWrong(visit, given)
  const iban = given.get('iban') ?? ''
  try {
    return await act({ wallet: visit.wallet, ...money, iban, formNumber: given.get('number') ?? '' })
  } catch (error) {
    // If it is unknown whether the withdrawal was made, the page must not say that it failed.
    if (!(error instanceof Failure) || error.failure === 'unavailable') throw error
    if (error.failure === 'number_already_used') return formUsed(visit, given)
    if (error.field === 'iban') return refused(visit, 'ibanWrong', { field: 'iban' })
    if (error.field === 'amount') return amountRefused(visit, error, money.currency)
    return refused(visit, 'notNow')
  }
}

/** The form that comes back has a new number. */
function formUsed(visit: Visit, given: URLSearchParams): Done {
  given.delete('number')
  return refused(visit, 'formUsed')
}

function amountRefused(visit: Visit, { failure }: Failure, currency: string): Done {
  if (failure !== 'invalid_field') return refused(visit, 'tooLittle', { field: 'amount' })
  const most = visit.language.formats.moneyText(maxPayoutMinor(currency), currency)
  return refused(visit, 'overMost', { field: 'amount', values: { most } })
}

/** Carried out once, however often it is sent: a form that comes back keeps its number. */
function form(visit: Visit, path: string, fields: Html, typed = visit.refused?.typed): Html {
  const kept = typed?.get('number') ?? ''
  return walletForm(
    visit,
    path,
    html`<input type="hidden" name="number" value="${uuidPattern.test(kept) ? kept : visit.newNumber()}">
${fields}`,
  )
}

function readMoney(_visit: Visit, given: URLSearchParams) {
  const [currency = '', amount = ''] = given.get('preset')?.split(' ') ?? [
    given.get('currency') ?? '',
    given.get('amount') ?? '',
  ]
  if (!isCurrencyCode(currency)) return undefined
  const amountMinor = readTypedAmount(amount, currency)
  return amountMinor === undefined ? undefined : { currency, amountMinor }
}

function amountWrong(visit: Visit, given: URLSearchParams): Done {
  const currency = given.get('currency') ?? ''
  const example = visit.language.formats.moneyText(exampleMinor, isCurrencyCode(currency) ? currency : 'EUR')
  return refused(visit, 'amountWrong', { field: 'amount', values: { example } })
}
