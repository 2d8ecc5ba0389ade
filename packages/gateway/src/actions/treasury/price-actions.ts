// Prices: set, end, list, and explain the fee of a payment.
import {
  digitsOf,
  Failure,
  isCurrencyCode,
  toDecimalText,
  toMinorUnits,
  toPositiveMinorUnits,
} from '@tillgate/protocol'
import { describeScope, maxBasisPoints, type Price, type Terms } from '../../core/orders/fees/rules/price.ts'
import { walletRailId } from '../../core/orders/payments/rules/rail.ts'
import { railIdPattern } from '../../finance/rails/rules/outside-rail.ts'
import { type Action, defineAction } from '../action.ts'
import {
  amount,
  displayed,
  integer,
  list,
  matching,
  object,
  oneOf,
  optional,
  parseMoment,
  text,
  timeMs,
} from '../fields.ts'
import { currency, limit, merchantId, reason, uuid } from '../shared-fields.ts'

const rail = matching(`The rail’s ID; \`${walletRailId}\` for wallets.`, {
  regexp: railIdPattern,
  expected: 'a rail’s ID, or `wallet`',
})
const scope = {
  merchantId: optional(displayed(merchantId, { option: 'merchant', label: 'Merchant (default: all)' })),
  railId: optional(
    displayed(rail, {
      option: 'rail',
      label: 'Rail (default: all)',
      placeholder: walletRailId,
      suggests: 'rails',
    }),
  ),
  currency: optional(displayed(currency, { label: 'Currency (default: all)' })),
}
const terms = {
  fixed: optional(displayed(amount('Fixed amount per payment.'), { placeholder: '0.30' })),
  basisPoints: optional(
    displayed(integer('Hundredths of a percent of the payment.', { min: 0, max: maxBasisPoints }), {
      placeholder: '150',
    }),
  ),
  least: optional(displayed(amount('Minimum fee of a payment.'), { placeholder: '0.10' })),
  most: optional(displayed(amount('Maximum fee of a payment.'), { placeholder: '25.00' })),
  refunds: optional(
    displayed(
      oneOf('The fee after a refund: `keep` (default), or `return` to return a proportional part.', [
        'keep',
        'return',
      ]),
      {
        choices: [
          ['keep', 'keep the fee'],
          ['return', 'return a proportional part'],
        ],
        initial: 'keep',
      },
    ),
  ),
}
const changeOn = (what: string, label: string) => ({
  fromMs: optional(
    displayed(timeMs(`When the price ${what}: at least a minute from now, which is the default.`), {
      option: 'from',
      label: `${label}, UTC (default: now)`,
      kind: 'day',
      fromText: (written) => (written.includes('-') ? String(parseMoment(written)) : written),
      hint: `When the price ${what}, such as 2027-01-01; a minute from now by default.`,
    }),
  ),
})
const starting = changeOn('takes effect', 'Start')
const ending = changeOn('ends', 'End')
const price = {
  priceId: uuid('The price’s ID.'),
  ...scope,
  ...terms,
  validFromMs: timeMs('When it takes effect.'),
  isEnd: optional(oneOf('Ends the previous price: a less specific one then applies.', ['yes'])),
  createdAtMs: timeMs('When it was set.'),
}

/** Amounts need the currency; where it is missing, the reader of amounts reports it. */
const amountChecks = Object.fromEntries(
  (['fixed', 'least', 'most'] as const).map((name) => [
    name,
    (given: Readonly<Record<string, unknown>>) => {
      const code = String(given['currency'])
      if (isCurrencyCode(code)) toMinorUnits(String(given[name]), code, name)
    },
  ]),
)
const currencyCheck = {
  currency: (given: Readonly<Record<string, unknown>>) => void digitsOf(String(given['currency'])),
}

export const priceActions: readonly Action[] = [
  defineAction({
    name: 'price.list',
    scope: 'fees:read',
    summary: 'List prices, latest start first',
    input: object('The filter.', {
      merchantId: optional(displayed(merchantId, { option: 'merchant', label: 'Merchant (or all)' })),
      limit,
    }),
    answer: object('The prices.', {
      prices: list('Latest start first.', object('A price.', price)),
    }),
    run: async ({ operations, context, input }) => ({
      prices: (await operations.prices.listPrices(context, input.merchantId, input.limit ?? 200)).map(
        toAnswer,
      ),
    }),
  }),
  defineAction({
    name: 'price.set',
    scope: 'fees:manage',
    summary: 'Set a price starting on a date. The most specific price applies',
    input: object('The price.', { ...scope, ...terms, ...starting, reason }),
    checks: { ...currencyCheck, ...amountChecks },
    answer: object('The price.', price),
    form: {
      place: 'fees',
      path: '/money/prices',
      page: '/money/fees',
      label: 'Set a price…',
      explains:
        'This price applies to payments that succeed after the start. A price for a merchant takes precedence, then a price for a rail, then a price for a currency. Existing fees do not change.',
      button: 'Set price',
      fields: [...Object.keys(scope), ...Object.keys(terms), ...Object.keys(starting), 'reason'],
    },
    run: async ({ operations, context, input }) => {
      const { merchantId: of, railId, currency: code, fromMs, reason: why } = input
      return toAnswer(
        await operations.prices.setPrice(
          context,
          { merchantId: of, railId, currency: code, terms: termsOf(input), fromMs },
          why,
        ),
      )
    },
    reply: (of) => ({
      text: `The price for ${describeScope(of)} takes effect on ${written(of.validFromMs)}.`,
    }),
  }),
  defineAction({
    name: 'price.end',
    scope: 'fees:manage',
    summary: 'End a price on a date. The next more general price then applies',
    input: object('Which price.', { ...scope, ...ending, reason }),
    checks: currencyCheck,
    answer: object('The end.', price),
    form: {
      place: 'fees',
      path: '/money/prices/end',
      page: '/money/fees',
      label: 'End a price…',
      explains:
        'Enter the same merchant, rail and currency as in the price. After the end, a more general price applies. Without one, payments are free.',
      button: 'End price',
      isDangerous: true,
      fields: [...Object.keys(scope), ...Object.keys(ending), 'reason'],
    },
    run: async ({ operations, context, input }) => {
      const { merchantId: of, railId, currency: code, fromMs, reason: why } = input
      return toAnswer(
        await operations.prices.setPrice(
          context,
          { merchantId: of, railId, currency: code, terms: undefined, fromMs },
          why,
        ),
      )
    },
    reply: (of) => ({ text: `The price for ${describeScope(of)} ends at ${written(of.validFromMs)}.` }),
  }),
  defineAction({
    name: 'fee.explain',
    scope: 'fees:read',
    summary: 'Show the fee of a payment, and the price that sets it',
    input: object('A payment.', {
      merchantId: displayed(merchantId, { option: 'merchant' }),
      amount: displayed(amount('The payment’s amount.'), { placeholder: '12.50' }),
      currency,
      railId: optional(displayed(rail, { option: 'rail', label: 'Rail (default: wallet)' })),
      atMs: optional(displayed(timeMs('Time of the payment; now by default.'), { option: 'at' })),
    }),
    checks: {
      ...currencyCheck,
      amount: (given) => {
        const code = String(given['currency'])
        if (isCurrencyCode(code)) toPositiveMinorUnits(String(given['amount']), code, 'amount')
      },
    },
    answer: object('The fee.', {
      amount: amount('The payment’s amount.'),
      currency,
      fee: amount('The merchant’s fee.'),
      net: amount('The merchant’s net amount.'),
      price: optional(object('The price that applies; absent if the payment is free.', price)),
      considered: list(
        'All prices for such a payment, most specific first.',
        object('A price.', {
          scope: text('What it applies to.', { max: 256 }),
          why: text('Why it applies, or does not.', { max: 256 }),
        }),
      ),
    }),
    async run({ operations, context, input, nowMs }) {
      const { merchantId: of, currency: code, railId = walletRailId, atMs = nowMs } = input
      const amountMinor = toPositiveMinorUnits(input.amount, code, 'amount')
      const found = await operations.prices.explainFee(context, {
        merchantId: of,
        railId,
        currency: code,
        amountMinor,
        atMs,
      })
      return {
        amount: toDecimalText(amountMinor, code),
        currency: code,
        fee: toDecimalText(found.feeMinor, code),
        net: toDecimalText(found.netMinor, code),
        price: found.price && toAnswer(found.price),
        considered: found.considered,
      }
    },
  }),
]

function termsOf(given: {
  currency?: string
  fixed?: string
  basisPoints?: number
  least?: string
  most?: string
  refunds?: 'keep' | 'return'
}): Terms {
  const { currency: code } = given
  if (given.fixed === undefined && given.basisPoints === undefined)
    throw new Failure('invalid_field', {
      field: 'basisPoints',
      message: 'Enter a fixed amount, basis points or both; 0 if payments are free.',
    })
  const minor = (name: 'fixed' | 'least' | 'most') => {
    if (given[name] === undefined) return undefined
    if (code !== undefined) return toMinorUnits(given[name], code, name)
    throw new Failure('invalid_field', {
      field: 'currency',
      message: `${name} is an amount and needs a currency. Enter a currency, or only basis points.`,
    })
  }
  return {
    fixedMinor: minor('fixed') ?? 0n,
    basisPoints: given.basisPoints ?? 0,
    leastMinor: minor('least'),
    mostMinor: minor('most'),
    returnsFee: given.refunds === 'return',
  }
}

export function toAnswer({ terms: of, ...rest }: Price) {
  const minor = (amountMinor: bigint | undefined) =>
    amountMinor === undefined || rest.currency === undefined
      ? undefined
      : toDecimalText(amountMinor, rest.currency)
  return {
    ...rest,
    fixed: minor(of?.fixedMinor),
    basisPoints: of?.basisPoints,
    least: minor(of?.leastMinor),
    most: minor(of?.mostMinor),
    refunds: of && (of.returnsFee ? ('return' as const) : ('keep' as const)),
    isEnd: of ? undefined : ('yes' as const),
  }
}

function written(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
