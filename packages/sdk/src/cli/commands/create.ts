// till create: a payment order from a few options, or from a file with the complete body.

import { maxExpiryMs, minExpiryMs } from '@tillgate/protocol'
import type { NewOrder } from '../../orders.ts'
import {
  type Command,
  credentialsOption,
  exitCodes,
  jsonOption,
  type OptionValues,
  requiredOption,
  textOption,
  UsageError,
} from '../command.ts'
import { parseDuration } from '../duration.ts'
import { randomNumber } from '../random-number.ts'
import { amountText, columns, paintStatus, type Terminal } from '../terminal.ts'

export const orderOptions = {
  amount: {
    type: 'string',
    value: 'AMOUNT',
    about: 'the amount, such as 12.50; default: 10',
  },
  currency: { type: 'string', value: 'CODE', about: 'ISO 4217 code; default: USD' },
  'order-no': {
    type: 'string',
    value: 'NUMBER',
    about: 'your number for the order; default: a new one',
  },
  'goods-name': { type: 'string', value: 'NAME', about: 'the purchase, as shown to the consumer' },
  'callback-url': { type: 'string', value: 'URL', about: 'the URL for callbacks' },
  'redirect-url': { type: 'string', value: 'URL', about: 'where the consumer returns to' },
  'expires-in': { type: 'string', value: 'DURATION', about: '5m to 24h; default: 30m' },
} as const

export const createCommand: Command = {
  name: 'create',
  summary: 'create a payment order and print its checkout URL',
  positionals: [],
  options: {
    ...orderOptions,
    amount: { ...orderOptions.amount, about: 'the amount, such as 12.50 (required)' },
    currency: { ...orderOptions.currency, about: 'ISO 4217 code, such as USD (required)' },
    channel: { type: 'string', value: 'CHANNEL', about: 'WEB or APP', choices: ['WEB', 'APP'] },
    manual: { type: 'boolean', about: 'the consumer authorizes the payment, and you capture it' },
    body: {
      type: 'string',
      value: 'FILE',
      about: 'JSON file with the whole body instead of these options; - is standard input',
    },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till create --amount 12.50 --currency USD', 'till create --body order.json --json'],
  usesGateway: true,
  async run({ values, terminal, client }) {
    const order =
      textOption(values, 'body') === undefined ? orderFrom(values, terminal) : readBody(values, terminal)
    const created = await client().orders.create(order)
    terminal.print(created, [
      ...columns([
        ['paymentId', created.paymentId],
        ['orderNo', created.referOrderNo],
        ['status', paintStatus(terminal, created.status)],
        ['amount', amountText(order.paymentAmount, order.currency)],
      ]),
      '',
      `Pay at ${terminal.paint('bold', created.checkoutUrl)}`,
      ...(created.warnings ?? []).map(({ msg }) => `${terminal.paint('yellow', 'Warning:')} ${msg}`),
    ])
    return exitCodes.done
  },
}

export function orderFrom(values: OptionValues, terminal: Terminal): NewOrder {
  const amount = requiredOption(values, 'amount')
  const expiresIn = textOption(values, 'expires-in')
  const [callbackUrl, redirectUrl] = [textOption(values, 'callback-url'), textOption(values, 'redirect-url')]
  const channel = textOption(values, 'channel')
  if (channel !== undefined && channel !== 'WEB' && channel !== 'APP')
    throw new UsageError('--channel must be WEB or APP.')
  const paymentTime = terminal.now()
  return {
    order: {
      orderNo: textOption(values, 'order-no') ?? randomNumber('till', terminal),
      orderAmount: amount,
      goods: [
        {
          referenceGoodsId: 'till',
          goodsName: textOption(values, 'goods-name') ?? 'Created with till',
          goodsAmount: amount,
        },
      ],
    },
    paymentAmount: amount,
    currency: requiredOption(values, 'currency'),
    ...(channel && { channel }),
    ...(expiresIn !== undefined && {
      paymentTime,
      paymentExpiryTime: paymentTime + parseExpiry(expiresIn),
    }),
    ...(callbackUrl && { callbackUrl }),
    ...(redirectUrl && { redirectUrl }),
    ...(values['manual'] === true && { captureMode: 'manual' as const }),
  }
}

/** As typed, because the gateway would report it in milliseconds. */
function parseExpiry(text: string): number {
  const lifeMs = parseDuration(text)
  if (lifeMs < minExpiryMs || lifeMs > maxExpiryMs)
    throw new UsageError(`--expires-in must be 5m to 24h, not ${text}.`)
  return lifeMs
}

function readBody(values: OptionValues, terminal: Terminal): NewOrder {
  const path = requiredOption(values, 'body')
  try {
    // Safe: the gateway validates every field.
    return JSON.parse(terminal.readFile(path).toString('utf8')) as NewOrder
  } catch (error) {
    throw new UsageError(`${path} is not valid JSON: ${(error as Error).message}`)
  }
}
