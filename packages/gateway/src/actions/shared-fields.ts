// Fields shared by several actions, and paged lists.
import {
  digitsOf,
  isCurrencyCode,
  merchantIdPattern,
  paymentIdPattern,
  toDecimalText,
  toPositiveMinorUnits,
  uuidPattern,
} from '@tillgate/protocol'
import type { Static, TObject } from 'typebox'
import { availableMinor } from '../core/ledger/rules/transfer.ts'
import type { Account } from '../core/ledger/store/ledger.ts'
import { fingerprintOf } from '../core/merchants/key-fingerprint.ts'
import { toPem } from '../core/merchants/manage-merchants.ts'
import {
  bankNamePattern,
  checkValueDate,
  mainBank,
  type Outside,
} from '../finance/treasury/rules/operator-bank-account.ts'
import type { Action, RawInput } from './action.ts'
import {
  amount,
  day,
  displayed,
  integer,
  list,
  longText,
  matching,
  object,
  optional,
  text,
  visibleCharacters,
  yesNo,
} from './fields.ts'

export const merchantId = displayed(
  matching('The merchantId.', {
    regexp: merchantIdPattern,
    expected: '18 letters or digits',
  }),
  { suggests: 'merchants' },
)
export const paymentId = matching('The paymentId.', {
  regexp: paymentIdPattern,
  expected: 'a paymentId, such as `P01K73ZQ800JZ7V3N4Q5R6S7T8W`',
})
export const uuid = (description: string) =>
  matching(description, {
    regexp: uuidPattern,
    expected: 'a UUID in lower case',
  })
export const reason = displayed(
  text('The reason, for the audit log.', { max: 256, pattern: visibleCharacters }),
  {
    label: 'Reason, for the audit log',
  },
)
export const endOthers = displayed(
  yesNo('Revoke all previous secrets now. Use this if a secret was stolen.'),
  {
    initial: 'false',
    choices: [
      ['false', 'the previous one stays valid'],
      ['true', 'revoke all previous secrets now'],
    ],
    label: 'Previous secrets',
  },
)
export const currency = displayed(
  matching('ISO 4217 code.', { regexp: /^[A-Z]{3}$/, expected: 'three capital letters' }),
  { placeholder: 'USD', suggests: 'currencies', fromText: (written) => written.toUpperCase() },
)

/**
 * The complete settings, including defaults, because the second operator would otherwise see only the fields that were
 * filled in.
 */
export function shownWhole(label: string) {
  return optional(
    displayed(text('The settings including defaults.', { max: 512 }), { only: 'request', label }),
  )
}

/** The order of the request's reference, shown because the second operator cannot see the order from the reference. */
export const shownOrder = {
  merchantId: optional(displayed(merchantId, { only: 'request' })),
  paymentId: optional(displayed(paymentId, { only: 'request' })),
}

/** As the gateway will call it: a host with look-alike letters is shown in its ASCII form. */
export function shownUrl(written: string): string {
  return URL.parse(written)?.href ?? written
}

export const publicKey = displayed(longText('An RSA public key as PEM or base64.', { max: 16_384 }), {
  kind: 'long',
  // The merchant can compare the fingerprint with their own.
  shown: (written) => `RSA, SHA-256 ${fingerprintOf(toPem(written))}`,
})
export const aesKey = text('In base64. Shown only once; store it now.', { max: 64 })
export const memberLink = text('A one-time link, shown only once. Absent if it was sent by email.', {
  max: 2_048,
})
export const callbackHosts = displayed(
  list('The only allowed hosts for callbacks.', text('A host.', { max: 260 }), { max: 100 }),
  { placeholder: 'shop.example, pay.example', fromText: (written) => written.toLowerCase() },
)
export const publicKeyCheck = {
  publicKey: ({ publicKey: written }) => void toPem(String(written)),
} as const satisfies Action['checks']

export const bankName = matching('The bank account’s short name, which cannot change.', {
  regexp: bankNamePattern,
  expected: '1 to 32 lower-case letters, digits and dashes, starting with a letter',
})
const bank = displayed(
  matching(`The operator’s bank account; \`${mainBank}\` by default.`, {
    regexp: bankNamePattern,
    expected: 'the name of a bank account',
  }),
  { placeholder: mainBank, suggests: 'banks' },
)

export const money = {
  amount: displayed(amount('The amount.'), { placeholder: '12.50' }),
  currency,
  reason,
}
export const moneyChecks = {
  currency: ({ currency: code }) => void digitsOf(String(code)),
  amount({ amount: written, currency: code }) {
    if (isCurrencyCode(String(code))) toPositiveMinorUnits(String(written), String(code), 'amount')
  },
} as const satisfies Action['checks']

export function moneyOf(given: { amount: string; currency: string; reason: string }) {
  const { currency: code, reason: why } = given
  return { currency: code, amountMinor: toPositiveMinorUnits(given.amount, code, 'amount'), reason: why }
}

/** For payments through one of the operator's bank accounts. */
export const outsideMoney = {
  ...money,
  bank: optional(bank),
  reference: optional(
    displayed(
      text('The bank’s reference; by default the transfer’s ID.', {
        max: 140,
        pattern: visibleCharacters,
      }),
      { placeholder: 'RF18 5390 0754 7034' },
    ),
  ),
  valueDate: optional(day('The bank’s value date; today by default.')),
}
export const outsideChecks = {
  ...moneyChecks,
  valueDate: ({ valueDate }) => checkValueDate(String(valueDate)),
} as const satisfies Action['checks']

export function outsideMoneyOf(given: Static<TObject<typeof outsideMoney>>) {
  return { ...moneyOf(given), outside: outsideOf(given) }
}

export function outsideOf(given: { bank?: string; reference?: string; valueDate?: string }): Outside {
  const { bank: bankName = mainBank, reference, valueDate } = given
  if (valueDate !== undefined) checkValueDate(valueDate)
  return { bankName, reference, valueDate }
}

export const balances = list(
  'By currency.',
  object('A balance.', {
    currency,
    available: amount('The available amount.'),
    held: amount('The amount held for pending transactions.'),
  }),
)

export function toBalance(account: Account) {
  const { currency: code } = account
  return {
    currency: code,
    available: toDecimalText(availableMinor(account), code),
    held: toDecimalText(account.debitsPendingMinor, code),
  }
}

/** A setting with this word as its value returns to the default. */
export function clearing(settings: readonly string[], word: string) {
  return (raw: RawInput): RawInput => {
    const clear = settings.filter(
      (each) => raw[each] !== undefined && [raw[each]].flat().join('').trim() === word,
    )
    return { ...raw, ...Object.fromEntries(clear.map((each) => [each, undefined])), clear }
  }
}

/** The reason in the audit log for actions of a merchant's member. */
export const byMerchant = 'by the merchant'

export const defaultLimit = 50
export const limit = optional(
  integer(`Maximum number of results; ${defaultLimit} by default.`, { min: 1, max: 200 }),
)

export const nextPage = '`before` of the next page; absent on the last page.'
export const nextLook = `${nextPage} A page can be empty and still have a next page, because the search is divided into steps.`

/** One page of a list, newest first; `older` is the `before` of the next page. */
export async function pageOf<Name extends string, Item>(
  name: Name,
  {
    limit: wanted = defaultLimit,
    before,
  }: { readonly limit?: number | undefined; readonly before?: string | undefined },
  {
    read,
    keyOf,
  }: {
    read: (page: { limit: number; before: string | undefined }) => Promise<readonly Item[]>
    keyOf: (item: Item) => string
  },
) {
  const found = await read({ limit: wanted + 1, before })
  const items = found.slice(0, wanted)
  const last = items.at(-1)
  const older = found.length > wanted && last !== undefined ? keyOf(last) : undefined
  // Safe: the name is the given one.
  return { [name]: items, older } as Record<Name, readonly Item[]> & { older: string | undefined }
}
