// service.order.scan: an order that the wallet pays whose code the consumer shows, once per orderNo. Up to the limit it is
// paid at once; above, it waits until the owner confirms it.
import {
  Failure,
  ignoring,
  makeCallbackId,
  makePaymentId,
  makeTransactionId,
  parseScanBody,
  type ScanAnswer,
  type ScanOrder,
  toWireAmount,
} from '@tillgate/protocol'
import type { ClockAndRandom } from '../../../platform/runtime/clock.ts'
import type { Tokens } from '../../../platform/runtime/secrets/tokens.ts'
import { TokenBuckets } from '../../../platform/runtime/token-bucket.ts'
import type { Merchant } from '../../merchants/rules/merchant.ts'
import { type DefaultLimits, limitsIn } from '../../wallets/rules/limits.ts'
import type { CurrentOrder } from '../current-order.ts'
import { submitPayment } from '../payments/rules/payment.ts'
import type { PlaceOrder } from '../place-order.ts'
import { checkoutUrl } from '../rules/checkout-url.ts'
import { differingField, makeOrder, type Order } from '../rules/order.ts'
import type { OrderStore } from '../store/orders.ts'
import { normaliseCode, unconfirmedScans, wrongCodes } from './rules/pay-code.ts'
import type { PayCodeStore, Scan } from './store/pay-codes.ts'

export interface ScanOrderParts extends ClockAndRandom {
  readonly orders: Pick<OrderStore, 'findOrderByNumber'>
  readonly payCodes: Pick<PayCodeStore, 'commitScan'>
  readonly payCodeHashes: Pick<Tokens, 'make'>
  readonly placeOrder: Pick<PlaceOrder, 'check'>
  readonly currentOrder: CurrentOrder
  readonly defaultLimits: DefaultLimits
  /** What a code pays without a confirmation, by currency. In other currencies, every payment is confirmed. */
  readonly scanLimits: ReadonlyMap<string, bigint>
  readonly publicUrl: string
  readonly linkTokens: Tokens
}

/** The consumer is in the store. */
const lifeMs = 5 * 60_000
/** Each try that is repeated had its outcome lost, or met a request with the same number. */
const maxTries = 5

export function makeScanOrder(parts: ScanOrderParts) {
  const { orders, payCodes, clock, random } = parts
  const guesses = makeGuessLimit(clock)
  return async (merchant: Merchant, body: string): Promise<ScanAnswer> => {
    const asked = parseScanBody(body)
    const { merchantId } = merchant
    for (let tries = 0; tries < maxTries; tries++) {
      const nowMs = clock.now()
      const wanted = orderOf(asked, { merchantId, paymentId: makePaymentId(nowMs, random), nowMs })
      const stored = await orders.findOrderByNumber(wanted)
      if (stored) return answer(await parts.currentOrder(stored, nowMs), asked, merchant)
      guesses.check(merchantId)
      const order = await parts.placeOrder.check(wanted, merchant, nowMs)
      const outcome = await payCodes.commitScan(scanOf(parts, order, asked, nowMs))
      if (outcome !== 'not_accepted') continue
      // Another request with this number may have used the code.
      const earlier = await orders.findOrderByNumber(wanted)
      if (earlier) return answer(await parts.currentOrder(earlier, nowMs), asked, merchant)
      guesses.noteWrong(merchantId)
      throw new Failure('code_not_accepted', { field: 'code' })
    }
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }

  function answer(order: Order, asked: ScanOrder, merchant: Merchant): ScanAnswer {
    refuseOtherContent(order, asked, merchant)
    const { merchantId, paymentId, orderNo, status, currency, paymentAmountMinor, attach } = order
    const token = parts.linkTokens.make([merchantId, paymentId])
    return {
      paymentId,
      referOrderNo: orderNo,
      checkoutUrl: checkoutUrl({ merchantId, paymentId, token }, parts.publicUrl),
      status,
      currency,
      paymentAmount: toWireAmount(paymentAmountMinor, currency),
      ...(attach !== undefined && { attach }),
      ...ignoring(asked),
    }
  }
}

function scanOf(parts: ScanOrderParts, order: Order, asked: ScanOrder, nowMs: number): Scan {
  const { scanLimits, defaultLimits, random } = parts
  const isSmall = order.paymentAmountMinor <= (scanLimits.get(order.currency) ?? 0n)
  return {
    hash: parts.payCodeHashes.make([normaliseCode(asked.code)]),
    order,
    nowMs,
    submissionFor({ walletId, scans }) {
      if (!isSmall || scans >= unconfirmedScans) return undefined
      const submission = submitPayment(order, {
        walletId,
        transactionId: makeTransactionId(nowMs, random),
        callbackId: makeCallbackId(nowMs, random),
        limits: limitsIn(order.currency, defaultLimits),
        nowMs,
      })
      return submission.kind === 'submission' ? submission : undefined
    },
  }
}

/** Of a merchant and of all. Requests in flight may go beyond the limit, and their debt is waited for. */
function makeGuessLimit(clock: ScanOrderParts['clock']) {
  const buckets = new TokenBuckets({ maxBuckets: 100_000 })
  const limitsOf = (merchantId: string) =>
    [
      [merchantId, wrongCodes.perMerchant],
      ['', wrongCodes.ofAll],
    ] as const
  return {
    check(merchantId: string): void {
      const waits = limitsOf(merchantId).map(([key, rate]) => buckets.waitMs(key, rate, clock.now()))
      const waitMs = Math.max(...waits)
      if (waitMs === 0) return
      throw new Failure('too_many_requests', {
        retryAfterSeconds: Math.ceil(waitMs / 1_000),
        message: 'Too many wrong payment codes. Wait the number of seconds in the Retry-After header.',
      })
    },
    noteWrong(merchantId: string): void {
      for (const [key, rate] of limitsOf(merchantId)) buckets.charge(key, rate, clock.now())
    },
  }
}

function orderOf(
  asked: ScanOrder,
  { merchantId, paymentId, nowMs }: { merchantId: string; paymentId: string; nowMs: number },
): Order {
  const { orderNo, amountMinor, currency, orderDescription, callbackUrl, attach } = asked
  return makeOrder(
    {
      order: {
        orderNo,
        orderAmountMinor: amountMinor,
        ...(orderDescription !== undefined && { orderDescription }),
        goods: [
          { referenceGoodsId: orderNo, goodsName: orderNo, goodsAmountMinor: amountMinor, goodsQuantity: 1 },
        ],
      },
      channel: 'WEB',
      paymentAmountMinor: amountMinor,
      currency,
      paymentTimeMs: nowMs,
      paymentExpiryTimeMs: nowMs + lifeMs,
      ...(callbackUrl !== undefined && { callbackUrl }),
      ...(attach !== undefined && { attach }),
    },
    { merchantId, paymentId, nowMs },
  )
}

/** The code and the times differ when a till repeats its request. Erased text is not compared. */
function refuseOtherContent(stored: Order, asked: ScanOrder, { hasHadDefaultCallback }: Merchant): void {
  const { merchantId, paymentId, paymentTimeMs, paymentExpiryTimeMs } = stored
  const again = orderOf(asked, { merchantId, paymentId, nowMs: paymentTimeMs })
  const isDefault = asked.callbackUrl === undefined && hasHadDefaultCallback
  const field = differingField(stored, {
    ...again,
    paymentExpiryTimeMs,
    ...(isDefault && { callbackUrl: stored.callbackUrl }),
    ...(stored.contentHash !== undefined && { content: stored.content, attach: stored.attach }),
  })
  if (field === undefined) return
  throw new Failure('number_already_used', {
    field,
    message: `orderNo ${asked.orderNo} was already used for an order with another ${field}. Use a new orderNo.`,
  })
}
