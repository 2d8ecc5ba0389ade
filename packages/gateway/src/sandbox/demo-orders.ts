// Sample orders of the sandbox's demo merchant, so that its portal shows a shop at work. They are created, paid, refunded
// and canceled by the merchant API's own operations; `service.sandbox.advance` then spreads them over a week.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CreateAnswer,
  type LinkAnswer,
  type OrderStatus,
  type SandboxAnswer,
  toWireAmount,
} from '@tillgate/protocol'
import type { Merchant } from '../core/merchants/rules/merchant.ts'
import type { Clock } from '../platform/runtime/clock.ts'
import { demoLink, type SampleOrder, sampleOrderNo, sampleOrders } from './rules/sample-orders.ts'

type Operation<Answer = unknown> = (merchant: Merchant, body: string) => Promise<Answer>

export interface DemoOrdersParts {
  readonly createOrder: Operation<CreateAnswer>
  readonly sandboxPay: Operation<SandboxAnswer>
  readonly refundOrder: Operation
  readonly cancelOrder: Operation
  readonly sandboxAdvance: Operation<SandboxAnswer>
  readonly createLink: Operation<LinkAnswer>
  readonly statusOf: (order: { merchantId: string; paymentId: string }) => Promise<OrderStatus | undefined>
  readonly clock: Clock
}

const currency = 'EUR'
const finishedAtOnce = 8
const payableForMs = 12 * 60 * 60_000
/** A payment by a test wallet is settled within a second; a busy machine may take longer. */
const settled = { polls: 50, everyMs: 100 } as const

/** `callbackUrl`: the demo shop's; undefined if it is not open. */
export function makeDemoOrders(parts: DemoOrdersParts) {
  return async (merchant: Merchant, callbackUrl: string | undefined): Promise<void> => {
    const placed: Placed[] = []
    // The oldest first, one after another, because lists are sorted by the time-ordered ids.
    for (const [index, sample] of sampleOrders.entries())
      placed.push({ sample, ...(await create(parts, merchant, { sample, index, callbackUrl })) })
    await parts.createLink(merchant, JSON.stringify(demoLink))
    // A few at a time, so that other requests find a database connection.
    const waiting = placed.values()
    const finishInTurn = async () => {
      for (const order of waiting) await finish(parts, merchant, order)
    }
    await Promise.all(Array.from({ length: finishedAtOnce }, finishInTurn))
  }
}

interface Placed {
  readonly sample: SampleOrder
  readonly paymentId: string
}

function create(
  { createOrder, clock }: DemoOrdersParts,
  merchant: Merchant,
  { sample, index, callbackUrl }: { sample: SampleOrder; index: number; callbackUrl: string | undefined },
): Promise<CreateAnswer> {
  const { goods, customer, attach, failingCallbackUrl } = sample
  const totalMinor = goods.reduce(
    (sum, { amountMinor, quantity }) => sum + amountMinor * BigInt(quantity),
    0n,
  )
  const nowMs = clock.now()
  const to = failingCallbackUrl ?? callbackUrl
  return createOrder(
    merchant,
    JSON.stringify({
      order: {
        orderNo: sampleOrderNo(index),
        orderAmount: toWireAmount(totalMinor, currency),
        goods: goods.map(({ id, name, amountMinor, quantity }) => ({
          referenceGoodsId: id,
          goodsName: name,
          goodsAmount: toWireAmount(amountMinor, currency),
          goodsQuantity: quantity,
        })),
        shipping: { shipType: 'SHIPPING', name: customer.name, address: customer.address },
      },
      channel: 'WEB',
      paymentAmount: toWireAmount(totalMinor, currency),
      currency,
      paymentTime: nowMs,
      paymentExpiryTime: nowMs + payableForMs,
      ...(attach !== undefined && { attach }),
      ...(to !== undefined && { callbackUrl: to }),
    }),
  )
}

async function finish(parts: DemoOrdersParts, merchant: Merchant, { sample, paymentId }: Placed) {
  const { end, agoMs } = sample
  if (end === 'paid' || end === 'refunded' || end === 'failed') {
    const outcome = end === 'failed' ? 'failed' : 'success'
    await parts.sandboxPay(merchant, JSON.stringify({ paymentId, outcome }))
    await untilFinal(parts, merchant, paymentId)
  }
  if (end === 'refunded' && sample.refund)
    await parts.refundOrder(
      merchant,
      JSON.stringify({
        paymentId,
        referRefundNo: `${paymentId}-1`,
        refundAmount: toWireAmount(sample.refund.amountMinor, currency),
        refundReason: sample.refund.reason,
      }),
    )
  if (end === 'cancelled') await parts.cancelOrder(merchant, JSON.stringify({ paymentId }))
  if (agoMs > 0) await parts.sandboxAdvance(merchant, JSON.stringify({ paymentId, milliseconds: agoMs }))
}

async function untilFinal({ statusOf }: DemoOrdersParts, { merchantId }: Merchant, paymentId: string) {
  for (let polls = 0; polls < settled.polls; polls++) {
    const status = await statusOf({ merchantId, paymentId })
    if (status === 'success' || status === 'failed') return
    await sleep(settled.everyMs)
  }
}
