// An independent client under load: creates, pays and refunds over real HTTP with the SDK, asks again whenever it got no
// answer, and writes down what was acknowledged. It knows nothing of the gateway's inside.
import { setTimeout as pause } from 'node:timers/promises'
import { isFinalOrderStatus, type OrderStatus } from '@tillgate/protocol'
import {
  ConflictError,
  InvalidRequestError,
  NotFoundError,
  TillgateError,
} from '../../packages/sdk/src/errors.ts'
import type { Tillgate } from '../../packages/sdk/src/tillgate.ts'
import { bankRailId } from '../simulation/bank.ts'
import type { Journal, ToldOrder } from '../simulation/journal.ts'
import type { Phone } from './phone.ts'

export interface ShopperParts {
  readonly merchant: () => Tillgate
  readonly journal: Journal
  readonly callbackUrl: string
  /** Distinguishes this run's numbers. */
  readonly name: string
  readonly now: () => number
  readonly isOver: () => boolean
  /** Every third order is paid through a bank outside. */
  readonly hasBank: boolean
  /** Every fourth order is paid by a code that a phone shows; undefined: none. */
  readonly newPhone?: (() => Phone) | undefined
  /** What is asked again beside what always is; nothing unless given. */
  readonly bears?: ((error: TillgateError) => boolean) | undefined
}

const amountMinor = 1_250n
const amount = '12.50'
const askAgainMs = 150
/** As an order does whose merchant says nothing about it, at the least. */
const orderLivesMs = 5 * 60_000
/** However often the gateway dies: a story that takes longer than this does not end by itself. */
const storyWithinMs = 180_000

/** Buys one thing after the other until it is told to end; the one under way is finished. */
export async function shop(parts: ShopperParts, index: number): Promise<void> {
  const phone = parts.newPhone?.()
  for (let round = 0; !parts.isOver(); round++)
    await story(parts, {
      orderNo: `${parts.name}-${index}-${round}`,
      isRefunded: round % 2 === 0,
      isByBank: parts.hasBank && round % 3 === 1,
      isShipped: parts.hasBank && round % 6 === 4,
      phone: round % 4 === 3 ? phone : undefined,
    })
}

/** One order from its creation to its end, and its refund. */
export async function story(
  parts: ShopperParts,
  {
    orderNo,
    isRefunded,
    isByBank = false,
    isShipped = false,
    phone,
  }: {
    orderNo: string
    isRefunded: boolean
    isByBank?: boolean
    isShipped?: boolean
    phone?: Phone | undefined
  },
): Promise<void> {
  const order = await (phone ? payInStore(parts, phone, orderNo) : create(parts, orderNo, isShipped))
  if (!order) return
  if (!phone) await (isByBank ? payByBank(parts, order) : pay(parts, order))
  const status = await untilFinal(parts, order, {
    ...(isByBank && !phone && { payAgain: () => payByBank(parts, order) }),
    ...(isShipped && { capture: () => captureParts(parts, order) }),
  })
  if (status === 'success' && isRefunded) await refund(parts, order)
}

/** Undefined: the clock was set past the end of what was asked for, or long before it; it is refused, and nothing was made. */
async function create(
  parts: ShopperParts,
  orderNo: string,
  isShipped: boolean,
): Promise<ToldOrder | undefined> {
  const { merchant, journal, callbackUrl, now } = parts
  const goods = [{ referenceGoodsId: 'tea', goodsName: 'Green tea', goodsAmount: amount }]
  // Fixed, so that the repetition after a lost answer has the same content.
  const paymentTime = now()
  const created = await untilAnswered(parts, () =>
    merchant().orders.create(
      {
        order: { orderNo, orderAmount: amount, goods },
        paymentAmount: amount,
        currency: 'EUR',
        paymentTime,
        callbackUrl,
        ...(isShipped && { captureMode: 'manual' as const }),
      },
      once,
    ),
  ).catch((error: unknown) => {
    const isClockSet = Math.abs(now() - paymentTime) > orderLivesMs
    if (error instanceof InvalidRequestError && isClockSet) return undefined
    throw error
  })
  if (!created) return undefined
  const { paymentId } = created
  const { merchantId } = merchant()
  journal.created({ merchantId, orderNo, paymentId, amountMinor, status: 'pending' })
  const told = journal.orders.get(`${merchantId} ${orderNo}`)
  if (!told) throw new Error('what was written down is there')
  return told
}

/** Asks again under the same number, by the code that the phone shows then. The owner confirms what waits. */
async function payInStore(
  parts: ShopperParts,
  phone: Phone,
  orderNo: string,
): Promise<ToldOrder | undefined> {
  const { merchant, journal, callbackUrl } = parts
  const deadline = performance.now() + storyWithinMs
  for (;;) {
    if (performance.now() > deadline) throw new Error(`${orderNo} found no code that was accepted`)
    const code = await phone.showCode()
    const answer =
      code &&
      (await untilAnswered(parts, async () => {
        try {
          return await merchant().orders.scan({ code, orderNo, amount, currency: 'EUR', callbackUrl }, once)
        } catch (error) {
          // The code ended before the gateway was there again.
          if (error instanceof NotFoundError) return undefined
          throw error
        }
      }))
    if (!answer) {
      await pause(askAgainMs)
      continue
    }
    const { paymentId, status } = answer
    const { merchantId } = merchant()
    journal.created({ merchantId, orderNo, paymentId, amountMinor, status: 'pending' })
    const told = journal.orders.get(`${merchantId} ${orderNo}`)
    if (told && status === 'pending') await pay(parts, told)
    return told
  }
}

/** A payment is not safe to repeat: after a lost answer the second one is refused when the first had come through. */
async function pay(parts: ShopperParts, order: ToldOrder): Promise<void> {
  const { merchant, journal } = parts
  const { paymentId } = order
  const isAcknowledged = await untilAnswered(parts, async () => {
    try {
      await merchant().sandbox.pay({ paymentId, outcome: 'success' }, { timeoutMs: once.timeoutMs })
      return true
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      return false
    }
  })
  // Refused: by the first one, or because the order expired meanwhile. The query will tell.
  if (isAcknowledged) journal.answered(order, order.status, 'confirming')
}

/** Safe to repeat: the same attempt goes on. Refused: it is paid already or expired, or the bank is not to be had now. */
async function payByBank(parts: ShopperParts, { paymentId }: ToldOrder): Promise<void> {
  const { merchant } = parts
  await untilAnswered(parts, async () => {
    try {
      await merchant().sandbox.pay({ paymentId, rail: bankRailId }, { timeoutMs: once.timeoutMs })
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  })
}

async function untilFinal(
  parts: ShopperParts,
  order: ToldOrder,
  { payAgain, capture }: { payAgain?: () => Promise<void>; capture?: () => Promise<void> },
): Promise<OrderStatus> {
  const { merchant, journal } = parts
  const deadline = performance.now() + storyWithinMs
  for (;;) {
    const before = order.status
    const { paymentStatus } = await untilAnswered(parts, () => merchant().orders.query(order.paymentId, once))
    journal.answered(order, before, paymentStatus)
    if (isFinalOrderStatus(paymentStatus)) return paymentStatus
    if (performance.now() > deadline) throw new Error(`${order.orderNo} is still ${paymentStatus}`)
    await pause(askAgainMs)
    if (paymentStatus === 'pending') await payAgain?.()
    if (paymentStatus === 'confirming') await capture?.()
  }
}

/** In two parts, which are less than what was authorized. Refused: not authorized yet, or the first one is under way. */
async function captureParts(parts: ShopperParts, order: ToldOrder): Promise<void> {
  const { merchant, journal } = parts
  const { merchantId, paymentId, orderNo } = order
  for (const final of [false, true]) {
    const referCaptureNo = `${orderNo}-capture-${final ? 2 : 1}`
    const answer = await untilAnswered(parts, async () => {
      try {
        return await merchant().orders.capture({ paymentId, referCaptureNo, amount: '5.00', final }, once)
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error
        return undefined
      }
    })
    if (answer?.captureStatus !== 'captured') return
    const { transactionId } = answer
    journal.captured({ merchantId, paymentId, referCaptureNo, transactionId, amountMinor: 500n })
  }
}

async function refund(parts: ShopperParts, { merchantId, paymentId, orderNo }: ToldOrder): Promise<void> {
  const { merchant, journal } = parts
  const referRefundNo = `${orderNo}-refund`
  const { refundId } = await untilAnswered(parts, () =>
    merchant().refunds.create({ paymentId, referRefundNo, refundAmount: '5.00' }, once),
  )
  journal.refunded({ merchantId, paymentId, referRefundNo, refundId, amountMinor: 500n })
}

/** The SDK's own retries are off: each answer is seen here. */
const once = { maxRetries: 0, timeoutMs: 3_000 } as const

async function untilAnswered<Answer>({ bears }: ShopperParts, ask: () => Promise<Answer>): Promise<Answer> {
  const deadline = performance.now() + storyWithinMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const isBorne = error instanceof TillgateError && bears?.(error) === true
      if (!(isBorne || isWorthAnotherTry(error)) || performance.now() > deadline) throw error
      await pause(askAgainMs)
    }
  }
}

/** No answer, too busy, not available now, clocks that differ just now. Never 50000: that would be a bug. */
function isWorthAnotherTry(error: unknown): boolean {
  if (!(error instanceof TillgateError)) return false
  const { code } = error
  return code === undefined || code === 50300 || code === 42900 || code === 40010
}
