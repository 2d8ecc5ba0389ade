// service.trade.create: creates a payment order, once per orderNo.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  type CreateAnswer,
  type CreateOrder,
  digitsOf,
  Failure,
  type Ignoring,
  ignoring,
  makePaymentId,
  parseCreateBody,
  type RandomBytes,
  toDecimalText,
} from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { HasEndpoints } from '../callbacks/has-endpoints.ts'
import type { IsNameMissing } from '../merchants/callback-names.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { CurrentOrder } from './current-order.ts'
import type { PlaceOrder } from './place-order.ts'
import { checkoutUrl } from './rules/checkout-url.ts'
import { differingField, type ErasableText, makeOrder, type Order } from './rules/order.ts'

export interface CreateOrderParts {
  readonly placeOrder: PlaceOrder
  readonly currentOrder: CurrentOrder
  readonly isNameMissing: IsNameMissing
  readonly hasEndpoints: HasEndpoints
  readonly publicUrl: string
  readonly linkTokens: Tokens
  readonly clock: Clock
  readonly random: RandomBytes
}

type Warning = NonNullable<CreateAnswer['warnings']>[number]

export function makeCreateOrder(parts: CreateOrderParts) {
  const { placeOrder, clock, random } = parts
  return async (merchant: Merchant, body: string): Promise<CreateAnswer> => {
    const create = parseCreateBody(body)
    const nowMs = clock.now()
    const order = makeOrder(create, {
      merchantId: merchant.merchantId,
      paymentId: makePaymentId(nowMs, random),
      nowMs,
    })
    const stored = await placeOrder.place(order, merchant, nowMs)
    assert(stored, 'an order without a link is only rejected because of its number')
    if (stored.paymentId !== order.paymentId) refuseOtherContent(stored, asSaid(order, stored, merchant))
    const isMissing = create.callbackUrl !== undefined && parts.isNameMissing(create.callbackUrl, merchant)
    const made = answer(await parts.currentOrder(stored, nowMs), create)
    const warnings = seemsInMinorUnits(create) ? [inMinorUnits(create)] : []
    if (isMissing && (await isMissing)) warnings.push(missingName(create.callbackUrl))
    else if (stored.callbackUrl === undefined && !(await parts.hasEndpoints(merchant.merchantId)))
      warnings.push(noCallbacks)
    return warnings.length > 0 ? { ...made, warnings } : made
  }

  function answer(order: Order, asked: Ignoring): CreateAnswer {
    const { merchantId, paymentId, orderNo, channel, status, attach } = order
    const token = parts.linkTokens.make([merchantId, paymentId])
    return {
      paymentId,
      referOrderNo: orderNo,
      channel,
      checkoutUrl: checkoutUrl({ merchantId, paymentId, token }, parts.publicUrl),
      status,
      ...(attach !== undefined && { attach }),
      ...ignoring(asked),
    }
  }
}

/** Cents instead of euros, beside an orderAmount in euros. */
function seemsInMinorUnits({ paymentAmountMinor, order, currency }: CreateOrder): boolean {
  const { orderAmountMinor } = order
  const minorUnits = 10n ** BigInt(digitsOf(currency))
  return minorUnits > 1n && orderAmountMinor > 0n && paymentAmountMinor === orderAmountMinor * minorUnits
}

function inMinorUnits({ paymentAmountMinor, order, currency }: CreateOrder): Warning {
  const [payment, total] = [paymentAmountMinor, order.orderAmountMinor].map((minor) =>
    toDecimalText(minor, currency),
  )
  return {
    field: 'paymentAmount',
    msg: `paymentAmount is ${payment} ${currency}, but orderAmount is ${total} ${currency}. Send amounts in units of the currency, such as 12.50, and not in its smallest unit, such as 1250.`,
  }
}

const noCallbacks: Warning = {
  field: 'callbackUrl',
  msg: 'This order has no callbacks: the request has no callbackUrl, and you have neither a default callback URL nor a webhook endpoint. Send callbackUrl, or query the order for its result.',
}

function missingName(callbackUrl = ''): Warning {
  return {
    field: 'callbackUrl',
    msg: `The host ${new URL(callbackUrl).hostname} does not resolve. The order is accepted, but its callbacks cannot be delivered until the host does.`,
  }
}

/** An omitted callbackUrl matches any stored one, because the merchant's default may have changed since. */
function asSaid(order: Order, stored: Order, { hasHadDefaultCallback }: Merchant): Order {
  const isDefault = !order.callbackUrl && hasHadDefaultCallback
  return isDefault ? { ...order, callbackUrl: stored.callbackUrl } : order
}

function refuseOtherContent(stored: Order, order: Order): void {
  // After erasure, only the hash can be compared.
  const isSame = stored.contentHash !== undefined && stored.contentHash === hashOf(order)
  const { content, attach } = isSame ? stored : order
  const field = differingField(stored, { ...order, content, attach })
  if (field === undefined) return
  throw new Failure('number_already_used', {
    field,
    message: `orderNo ${order.orderNo} was already used for an order with another ${field}. Repeat that order as it was, or use a new orderNo.`,
  })
}

/** Content is JSON without line breaks, so the separator is unambiguous. */
export function hashOf({ content, attach }: ErasableText): string {
  return createHash('sha256')
    .update(attach === undefined ? content : `${content}\n${attach}`)
    .digest('hex')
}
