// Bodies that open and are refused all the same, and how amounts become minor units.
import type { FailureName } from '../src/codes.ts'
import { failures } from '../src/codes.ts'
import type { Method } from '../src/methods.ts'
import type { WireAmount } from '../src/money.ts'
import { fullCreateBody, withChange } from './bodies.ts'

export interface RefusedBody {
  readonly reason: string
  readonly method: Method
  readonly code: number
  /** Absent where no single field is at fault. */
  readonly field?: string
  readonly body: string
}

const create = 'service.trade.create'
const full = fullCreateBody()
const fullText = JSON.stringify(full)

export const refusedBodies: readonly RefusedBody[] = [
  refusedChange('a good without a name', 'order.goods[1].goodsName', undefined),
  refusedChange('orderNo of 65 characters', 'order.orderNo', '界'.repeat(65)),
  refusedChange('a line break in a name', 'order.goods[1].goodsName', 'two\nlines'),
  refusedChange('no goods', 'order.goods', []),
  refusedChange('an unknown channel', 'channel', 'POS'),
  refusedChange('a currency in small letters', 'currency', 'usd'),
  refusedChange('a currency that is no longer one', 'currency', 'BGN'),
  refusedChange('a time in seconds', 'paymentTime', 1760000000),
  refusedChange('a negative amount', 'order.tips', -1),
  refusedChange('an amount with an exponent', 'order.tips', '1e2'),
  refusedChange('nothing to pay', 'paymentAmount', '0.00'),
  refusedChange('a quantity of seven decimals', 'order.goods[0].goodsQuantity', '0.0000001'),
  refusedChange(
    'three decimal places of a dollar',
    'paymentAmount',
    '34.399',
    'amount_does_not_fit_currency',
  ),
  refusedChange('more than 10^15', 'paymentAmount', '1000000000000000.01', 'amount_does_not_fit_currency'),
  refusedChange('a wrong total', 'order.orderAmount', '29.99', 'amounts_do_not_add_up'),
  refusedChange('a wrong total of taxes', 'order.totalTax', '2.99', 'amounts_do_not_add_up'),
  {
    ...refused(
      'two different amounts of one good',
      create,
      withChange(full, 'order.goods[0].goodsUnitAmount', '12.51'),
    ),
    field: 'order.goods[0].goodsAmount',
  },
  {
    ...refusedText(
      'a number of more than 15 digits',
      create,
      fullText.replace('"orderAmount":30', '"orderAmount":30.0000000000000001'),
    ),
    field: 'order.orderAmount',
  },
  refusedText('a key twice', create, fullText.replace('"channel":"WEB"', '"channel":"WEB","channel":"APP"')),
  refusedText('a key that reaches for prototypes', create, fullText.replace('{', '{"__proto__":{},')),
  refusedText('half of a surrogate pair', create, fullText.replace('Shirt', '\\ud83d')),
  refusedText('a list', create, '[]'),
  refusedText('not JSON', create, 'paymentId=P1'),
  { ...refused('a query for nothing', 'service.trade.query', {}), field: 'paymentId' },
  refused('a query for two things', 'service.trade.query', { paymentId: 'P1', orderNo: 'A-1' }),
  {
    ...refused('a refund of nothing', 'service.trade.refund', {
      paymentId: 'P1',
      referRefundNo: 'B-1',
      refundAmount: 0,
    }),
    field: 'refundAmount',
  },
]

function refusedChange(
  reason: string,
  field: string,
  value: unknown,
  failure: FailureName = 'invalid_field',
): RefusedBody {
  return { ...refused(reason, create, withChange(full, field, value)), code: failures[failure].code, field }
}

function refused(reason: string, method: Method, body: object): RefusedBody {
  return refusedText(reason, method, JSON.stringify(body))
}

function refusedText(reason: string, method: Method, body: string): RefusedBody {
  return { reason, method, code: failures.invalid_field.code, body }
}

export interface AmountVector {
  /** As it stands in the JSON text: with quotes where it is a string. */
  readonly json: string
  readonly currency: string
  /** Minor units as digits, or the failure's code. */
  readonly minor?: string
  readonly code?: number
  /** How the gateway writes the same amount. */
  readonly answered?: WireAmount
}

const { invalid_field, amount_does_not_fit_currency } = failures

export const amountVectors: readonly AmountVector[] = [
  { json: '12.5', currency: 'USD', minor: '1250', answered: 12.5 },
  { json: '"12.50"', currency: 'USD', minor: '1250', answered: 12.5 },
  { json: '12.50', currency: 'USD', minor: '1250', answered: 12.5 },
  { json: '0.1', currency: 'USD', minor: '10', answered: 0.1 },
  { json: '1000', currency: 'JPY', minor: '1000', answered: 1000 },
  { json: '1.234', currency: 'TND', minor: '1234', answered: 1.234 },
  { json: '"1.2345"', currency: 'CLF', minor: '12345', answered: 1.2345 },
  { json: '100', currency: 'HUF', minor: '10000', answered: 100 },
  { json: '0', currency: 'EUR', minor: '0', answered: 0 },
  { json: '1234567890123.45', currency: 'USD', minor: '123456789012345', answered: 1234567890123.45 },
  {
    json: '"123456789012345.67"',
    currency: 'USD',
    minor: '12345678901234567',
    answered: '123456789012345.67',
  },
  { json: '"1000000000000000"', currency: 'USD', minor: '100000000000000000', answered: 1e15 },
  { json: '"10.00"', currency: 'JPY', code: amount_does_not_fit_currency.code },
  { json: '10.5', currency: 'JPY', code: amount_does_not_fit_currency.code },
  { json: '1.234', currency: 'USD', code: amount_does_not_fit_currency.code },
  { json: '"1000000000000000.01"', currency: 'USD', code: amount_does_not_fit_currency.code },
  { json: '123456789012345.67', currency: 'USD', code: invalid_field.code },
  { json: '0.30000000000000004', currency: 'USD', code: invalid_field.code },
  { json: '1e2', currency: 'USD', code: invalid_field.code },
  { json: '"1e2"', currency: 'USD', code: invalid_field.code },
  { json: '1e400', currency: 'USD', code: invalid_field.code },
  { json: '-1', currency: 'USD', code: invalid_field.code },
  { json: '"01"', currency: 'USD', code: invalid_field.code },
  { json: '".5"', currency: 'USD', code: invalid_field.code },
  { json: '"1,5"', currency: 'USD', code: invalid_field.code },
  { json: '"NaN"', currency: 'USD', code: invalid_field.code },
  { json: '1', currency: 'XAU', code: invalid_field.code },
]
