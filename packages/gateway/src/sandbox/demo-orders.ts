// Sample orders of the sandbox's demo merchant, so that its portal shows a shop at work. They are created, paid, refunded
// and canceled by the merchant API's own operations; `service.sandbox.advance` then spreads them over a week.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CreateAnswer,
  Failure,
  type LinkAnswer,
  type SandboxAnswer,
  toWireAmount,
} from '@tillgate/protocol'
import type { Merchant } from '../core/merchants/rules/merchant.ts'
import type { Order } from '../core/orders/rules/order.ts'
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
  readonly findOrder: (order: { merchantId: string; orderNo: string }) => Promise<SampleState | undefined>
  readonly findLink: (merchantId: string, linkNo: string) => Promise<unknown>
  readonly clock: Clock
}

type SampleState = Pick<Order, 'paymentId' | 'status' | 'refundCount' | 'createdAtMs'>

const currency = 'EUR'
const finishedAtOnce = 8
const payableForMs = 12 * 60 * 60_000
/** A payment by a test wallet is settled within a second; a busy machine may take longer. */
const settled = { polls: 200, everyMs: 100 } as const

/**
 * `callbackUrl`: the demo shop's; undefined if it is not open. Every step looks at what an earlier attempt did, so that
 * the next one goes on where it failed. The link comes last: it says that the samples are complete.
 */
export function makeDemoOrders(parts: DemoOrdersParts) {
  return async (merchant: Merchant, callbackUrl: string | undefined): Promise<void> => {
    const { merchantId } = merchant
    if (await parts.findLink(merchantId, demoLink.linkNo)) return
    // The oldest first, one after another, because lists are sorted by the time-ordered ids.
    for (const [index, sample] of sampleOrders.entries())
      if (!(await parts.findOrder({ merchantId, orderNo: sampleOrderNo(index) })))
        await create(parts, merchant, { sample, index, callbackUrl })
    // A few at a time, so that other requests find a database connection.
    const waiting = sampleOrders.entries()
    const finishInTurn = async () => {
      for (const [index, sample] of waiting) await finish(parts, merchant, { sample, index })
    }
    // All of them end before a failure is reported, so that the next attempt is alone.
    const ends = await Promise.allSettled(Array.from({ length: finishedAtOnce }, finishInTurn))
    const failed = ends.find((each) => each.status === 'rejected')
    if (failed) throw failed.reason
    await parts.createLink(merchant, JSON.stringify(demoLink))
  }
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

async function finish(
  parts: DemoOrdersParts,
  merchant: Merchant,
  { sample: { end, agoMs, refund }, index }: { readonly sample: SampleOrder; readonly index: number },
): Promise<void> {
  const find = () => findOrder(parts, merchant, index)
  const { paymentId, status } = await find()
  const send = (operation: Operation, body: object) =>
    operation(merchant, JSON.stringify({ paymentId, ...body }))
  const isPaid = end === 'paid' || end === 'refunded'
  if (status === 'pending' && (isPaid || end === 'failed'))
    await send(parts.sandboxPay, { outcome: isPaid ? 'success' : 'failed' })
  if (status === 'pending' && end === 'cancelled') await send(parts.cancelOrder, {})
  if (isPaid || end === 'failed') await untilFinal(find)
  if (end === 'refunded' && refund && (await find()).refundCount === 0)
    await send(parts.refundOrder, {
      referRefundNo: `${paymentId}-1`,
      refundAmount: toWireAmount(refund.amountMinor, currency),
      refundReason: refund.reason,
    })
  const milliseconds = agoMs - (parts.clock.now() - (await find()).createdAtMs)
  if (milliseconds > 0) await send(parts.sandboxAdvance, { milliseconds })
}

async function findOrder({ findOrder: find }: DemoOrdersParts, { merchantId }: Merchant, index: number) {
  const order = await find({ merchantId, orderNo: sampleOrderNo(index) })
  assert(order, 'a sample order was removed while it was made')
  return order
}

async function untilFinal(find: () => Promise<SampleState>): Promise<void> {
  for (let polls = 0; polls < settled.polls; polls++) {
    const { status } = await find()
    if (status !== 'pending' && status !== 'confirming') return
    await sleep(settled.everyMs)
  }
  throw new Failure('unavailable', {
    message: 'The sample orders are still being created. Open the portal again in a minute.',
  })
}
