// What the forms for topping up and withdrawing share.
import { isCurrencyCode, uuidPattern } from '@tillgate/protocol'
import { readTypedAmount } from '../../../finance/links/rules/typed-amount.ts'
import { type Html, html } from '../../kit/html.ts'
import { walletForm } from '../frame.ts'
import { type Done, refused, type Visit } from '../wallet.ts'

const exampleMinor = 2_500n

/** Shows the form again with a new number, because its old one was used. */
export function formUsed(visit: Visit, given: URLSearchParams): Done {
  given.delete('number')
  return refused(visit, 'formUsed')
}

/** Carried out once, however often it is sent: with errors, it is shown again under its number. */
export function moneyForm(visit: Visit, path: string, fields: Html, typed = visit.refused?.typed): Html {
  const kept = typed?.get('number') ?? ''
  return walletForm(
    visit,
    path,
    html`<input type="hidden" name="number" value="${uuidPattern.test(kept) ? kept : visit.newNumber()}">
${fields}`,
  )
}

export function readMoney(given: URLSearchParams) {
  const [currency = '', amount = ''] = given.get('preset')?.split(' ') ?? [
    given.get('currency') ?? '',
    given.get('amount') ?? '',
  ]
  if (!isCurrencyCode(currency)) return undefined
  const amountMinor = readTypedAmount(amount, currency)
  return amountMinor === undefined ? undefined : { currency, amountMinor }
}

export function amountWrong(visit: Visit, given: URLSearchParams): Done {
  const currency = given.get('currency') ?? ''
  const example = visit.language.formats.moneyText(exampleMinor, isCurrencyCode(currency) ? currency : 'EUR')
  return refused(visit, 'amountWrong', { field: 'amount', values: { example } })
}
