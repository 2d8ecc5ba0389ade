// Withdrawing to the consumer's own bank account: the form, its confirmation, and earlier withdrawals.
import { Failure, toDecimalText } from '@tillgate/protocol'
import { availableMinor } from '../../../core/ledger/rules/transfer.ts'
import { holderOf } from '../../../finance/payouts/rules/merchant-bank-account.ts'
import { maxPayoutMinor } from '../../../finance/payouts/rules/payout-amount.ts'
import { grouped } from '../../../finance/treasury/rules/mod-97.ts'
import type { BankDetails } from '../../../finance/treasury/rules/operator-bank-account.ts'
import type { Withdrawal } from '../../../identity/consumers/withdraw.ts'
import { type Content, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { fill } from '../../kit/languages/words.ts'
import { statusPill } from '../../kit/pages/status.ts'
import { confirmPin } from '../confirm.ts'
import { amountField, ibanField, pinField } from '../fields.ts'
import { card, walletForm } from '../frame.ts'
import { type Done, prefix, refused, type Visit, type WalletPage, type WalletRoute } from '../wallet.ts'
import { timeOf } from './entries.ts'
import { amountWrong, formUsed, moneyForm, readMoney } from './money-form.ts'
import { inOrder } from './top-up-currencies.ts'

const withdrawalsShown = 10

const balancesShown = 4

export const withdrawRoutes: readonly WalletRoute[] = [
  { path: '/withdraw', show: (visit) => withdrawPage(visit) },
  { path: '/withdraw', act: ask },
  { path: '/withdraw/confirm', page: '/withdraw', act: withdraw },
]

/** `typed` fills the fields again. */
async function withdrawPage(visit: Visit, typed = visit.refused?.typed): Promise<WalletPage> {
  const { wallet, words, operations, language } = visit
  const currencies = await operations.withdraw.currencies(wallet.walletId)
  const balances = await operations.listBalances(wallet.walletId)
  const own = inOrder(
    balances.filter(({ currency }) => currencies.includes(currency)),
    visit,
  )
  const field = (name: 'amount' | 'iban') => ({
    name,
    label: words.withdraw[name],
    refused: visit.refused,
    value: typed?.get(name) ?? undefined,
  })
  const usual = typed?.get('currency') ?? undefined
  const content =
    currencies.length === 0
      ? html`<div class="empty">${icon('landmark')}<h2>${words.withdraw.none}</h2><p>${words.home.empty}</p><p><a class="button primary" href="${prefix}/top-up">${words.nav.topUp}</a></p></div>`
      : html`<p class="quiet">${fill(words.withdraw.text, { name: html`<bdi>${holderOf(wallet.name)}</bdi>` })} ${shortened(visit)}</p>
${own
  .slice(0, balancesShown)
  .map(
    (each) =>
      html`<p class="available">${fill(words.withdraw.available, { amount: html`<strong>${language.formats.money(availableMinor(each), each.currency)}</strong>` })}</p>`,
  )}
${moneyForm(
  visit,
  '/withdraw',
  html`${amountField(
    field('amount'),
    own.map(({ currency }) => currency),
    { label: words.withdraw.currency, usual, tag: visit.language.tag },
  )}
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
      html`<li><span class="who">IBAN …${account.iban?.slice(-4)}<small class="quiet">${timeOf(requestedAtMs, language.formats.day(requestedAtMs))}</small></span><span class="sum">${language.formats.money(amountMinor, currency)}${statusPill(status, words.withdraw[status])}</span></li>`,
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
  const money = readMoney(given)
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

function amountRefused(visit: Visit, { failure }: Failure, currency: string): Done {
  if (failure !== 'invalid_field') return refused(visit, 'tooLittle', { field: 'amount' })
  const most = visit.language.formats.moneyText(maxPayoutMinor(currency), currency)
  return refused(visit, 'overMost', { field: 'amount', values: { most } })
}
