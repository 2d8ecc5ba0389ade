// service.order.scan: charges the wallet whose code the consumer shows in a store.
import type { Static } from 'typebox'
import { amount, text, url } from '../fields.ts'
import { maxAttachLength, maxOrderDescriptionLength, maxOrderNoLength, maxPayCodeLength } from '../limits.ts'
import { toPositiveMinorUnits } from '../money.ts'
import { Type } from '../type.ts'
import { makeBodyReader } from '../validation.ts'
import { currencyOf } from './create-body.ts'
import { attach, currency, ignored, orderStatus, paymentId, referOrderNo } from './shared-fields.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

export const scanBodySchema = Type.Object({
  code: text('The content of the consumer’s QR code, or the digits below it.', { max: maxPayCodeLength }),
  orderNo: text('Your number for the order.', { max: maxOrderNoLength }),
  amount: amount('The amount to pay.', { isPositive: true }),
  currency: currencyOf('The currency of the amount.'),
  orderDescription: Type.Optional(
    text('What the consumer sees.', { min: 0, max: maxOrderDescriptionLength, hasLines: true }),
  ),
  callbackUrl: Type.Optional(url('Where callbacks are sent.')),
  attach: Type.Optional(text('Your own text, returned unchanged.', { max: maxAttachLength, hasLines: true })),
})

export interface ScanOrder extends Ignoring {
  readonly code: string
  readonly orderNo: string
  readonly amountMinor: bigint
  readonly currency: string
  readonly orderDescription: string | undefined
  readonly callbackUrl: string | undefined
  readonly attach: string | undefined
}

const readScanBody = makeBodyReader(scanBodySchema)

export function parseScanBody(bodyText: string): ScanOrder {
  const body = readScanBody(bodyText)
  return {
    code: body.code,
    orderNo: body.orderNo,
    amountMinor: toPositiveMinorUnits(body.amount, body.currency, 'amount'),
    currency: body.currency,
    orderDescription: body.orderDescription || undefined,
    callbackUrl: body.callbackUrl,
    attach: body.attach,
    ...ignoring(body),
  }
}

export const scanAnswerSchema = Type.Object({
  paymentId,
  referOrderNo,
  checkoutUrl: url('Where the consumer confirms an order that is `pending`, besides the wallet.'),
  status: orderStatus,
  currency,
  paymentAmount: amount('The amount to pay.'),
  ...attach,
  ...ignored,
})
export type ScanAnswer = Static<typeof scanAnswerSchema>
