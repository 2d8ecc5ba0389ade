// Shared by the checks: orders for experiments, and the few payments and refunds that many clauses examine.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '@tillgate/protocol'
import { eventOf, type OpenedCallback, openReceived } from './callback.ts'
import type { Gateway, Sending } from './gateway.ts'
import type { Hooks, Outcome, PayableOrder } from './hooks.ts'
import { Deviation, NotTestable } from './outcome.ts'
import type { Received, Receiver } from './receiver.ts'

export interface WorldParts {
  readonly gateway: Gateway
  readonly hooks: Hooks
  readonly receiver: Receiver
  readonly note: (line: string) => void
  readonly callbackTimeoutMs: number
  /** The wait for the first retry of a rejected callback. */
  readonly retryTimeoutMs: number
  /** Whether to wait the real five minutes for an expiry if time cannot be advanced. */
  readonly waitsForExpiry: boolean
}

export interface CreatedOrder extends PayableOrder {
  readonly mark: string
  readonly body: CreateBody
  readonly data: JsonObject
}

export type CreateBody = ReturnType<typeof createBody>
export type World = ReturnType<typeof makeWorld>

export const create = 'service.trade.create'
export const query = 'service.trade.query'
const minute = 60_000
const shortestExpiryMs = 5 * minute
/** Callbacks may overtake each other. */
const overtakingMs = 2_000
/** A first callback that takes longer is worth a note. */
const usualMs = 5_000

/** One of each, and only what the interface requires. */
export function createBody(nowMs: number, callbackUrl?: string) {
  const good = { referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: 10, goodsQuantity: 1 }
  return {
    order: { orderNo: `conform-${randomBytes(8).toString('hex')}`, orderAmount: 10, goods: [good] },
    channel: 'WEB',
    paymentAmount: 10,
    currency: 'USD',
    paymentTime: nowMs,
    paymentExpiryTime: nowMs + 30 * minute,
    ...(callbackUrl !== undefined && { callbackUrl }),
  }
}

export function makeWorld(parts: WorldParts) {
  const { gateway, hooks, receiver, callbackTimeoutMs, retryTimeoutMs } = parts
  const { now } = gateway

  /** Of this run's orders: those of earlier runs may still receive callbacks. */
  const marks = new Set<string>()

  const newBody = () => createBody(now())

  async function order(change: object = {}, sending?: Sending): Promise<CreatedOrder> {
    const mark = randomBytes(8).toString('hex')
    marks.add(mark)
    const body = { ...createBody(now(), receiver.urlFor(mark)), ...change }
    const data = await gateway.call(create, body, sending)
    const { paymentId, checkoutUrl } = data
    if (typeof paymentId !== 'string') throw new Deviation('create answers no paymentId')
    return { mark, body, data, paymentId, checkoutUrl: String(checkoutUrl) }
  }

  /** A gateway may pause an address whose listener was gone, so a run's first callback has as long as a retry. */
  const reached = once(async () => {
    const any = (timeoutMs: number) => receiver.find(() => true, timeoutMs)
    if (await any(Math.min(usualMs, retryTimeoutMs))) return
    parts.note(
      `No callback has arrived yet. Waiting up to ${retryTimeoutMs / 1_000} seconds, because a gateway may pause an address where earlier callbacks failed.`,
    )
    await any(retryTimeoutMs - usualMs)
  })

  async function callbackOf(
    { mark }: CreatedOrder,
    eventName: string,
    timeoutMs = callbackTimeoutMs,
  ): Promise<OpenedCallback> {
    await reached()
    const found = await receiver.find((each) => each.mark === mark && eventOf(each) === eventName, timeoutMs)
    if (!found) throw missing(` ${eventName}`, timeoutMs)
    return openReceived(found, gateway.keys)
  }

  function missing(eventName: string, timeoutMs: number): Deviation {
    const hint = receiver.received.length === 0 ? `; nothing has arrived at ${receiver.base} so far` : ''
    return new Deviation(`no callback${eventName} came within ${timeoutMs / 1_000} seconds${hint}`)
  }

  const queried = (paymentId: string) => gateway.call(query, { paymentId })

  async function payment(outcome: Outcome, last: 'success' | 'failed') {
    const made = await order()
    await hooks.pay(made, outcome)
    const ended = await attempt(() => callbackOf(made, `payment.order.${last}`))
    const confirming = await attempt(() => callbackOf(made, 'payment.order.confirming', overtakingMs))
    return { order: made, confirming, ended, query: await queried(made.paymentId) }
  }

  async function refund(outcome: Outcome, last: 'success' | 'failed') {
    const made = await order()
    await hooks.pay(made, outcome)
    await callbackOf(made, 'payment.order.success')
    const body = { paymentId: made.paymentId, referRefundNo: `${made.body.order.orderNo}-r`, refundAmount: 4 }
    const data = await gateway.call('service.trade.refund', body)
    const ended = await attempt(() => callbackOf(made, `payment.refund.${last}`))
    return { order: made, body, data, ended, query: await queried(made.paymentId) }
  }

  return {
    ...parts,
    marks: marks as ReadonlySet<string>,
    newBody,
    order,
    query: queried,
    /** A successful payment, with its callbacks and the query afterwards. */
    paid: once(() => payment('success', 'success')),
    /** An extension: authorized, and captured in two parts of 2 and 3. */
    captured: once(async () => {
      const made = await order({ captureMode: 'manual' })
      if (!('authorization' in (await queried(made.paymentId))))
        throw new NotTestable('the gateway does not know captureMode')
      await hooks.pay(made, 'success')
      await callbackOf(made, 'payment.order.confirming')
      const { paymentId } = made
      const deadlineMs = now() + callbackTimeoutMs
      let authorized = await queried(paymentId)
      while (!JSON.stringify(authorized).includes('"expiresAt"') && now() < deadlineMs) {
        await pause(100)
        authorized = await queried(paymentId)
      }
      const capture = (referCaptureNo: string, amount: number, final: boolean) =>
        gateway.call('service.order.capture', { paymentId, referCaptureNo, amount, final })
      const [first, repeated] = [await capture('1', 2, false), await capture('1', 2, false)]
      const last = await capture('2', 3, true)
      return { authorized, first, repeated, last, query: await queried(paymentId) }
    }),
    unpaid: once(() => payment('failed', 'failed')),
    refunded: once(() => refund('success', 'success')),
    unrefunded: once(() => refund('refund_fails', 'failed')),
    /** An order that is never paid. */
    expired: once(async () => {
      const nowMs = now()
      const made = await order({ paymentTime: nowMs, paymentExpiryTime: nowMs + shortestExpiryMs + 5_000 })
      const isOver = await hooks.advance(made.paymentId, shortestExpiryMs + 10_000)
      if (!isOver && !parts.waitsForExpiry)
        throw new NotTestable('it takes five minutes; give --wait-for-expiry to wait for it')
      const waitMs = isOver ? callbackTimeoutMs : shortestExpiryMs + callbackTimeoutMs
      const ended = await attempt(() => callbackOf(made, 'payment.order.timeout', waitMs))
      return { order: made, ended, query: await queried(made.paymentId) }
    }),
    /** A callback that is answered with HTTP 500 until it is sent again. */
    repeated: once(async () => {
      const made = await order()
      receiver.refuse(made.mark)
      await hooks.pay(made, 'success')
      await reached()
      const isFirst = ({ mark }: Received) => mark === made.mark
      const first = await receiver.find(isFirst, callbackTimeoutMs)
      if (!first) throw missing('', callbackTimeoutMs)
      const eventName = eventOf(first)
      const refused = await openReceived(first, gateway.keys)
      receiver.accept(made.mark)
      await hooks.advance(made.paymentId, minute)
      const again = await receiver.find(
        (each) => isFirst(each) && eventOf(each) === eventName && each !== first,
        retryTimeoutMs,
      )
      return { refused, again: again && (await openReceived(again, gateway.keys)) }
    }),
  }
}

/** A missing callback must not hide the other results of its payment. */
async function attempt<T>(work: () => Promise<T>): Promise<() => T> {
  try {
    const value = await work()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => {
    done ??= work()
    return done
  }
}
