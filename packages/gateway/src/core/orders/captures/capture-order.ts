// service.order.capture and service.order.release: capture an authorized order in parts, once per referCaptureNo, or
// release what remains.
import {
  type CaptureAnswer,
  Failure,
  ignoring,
  makeCallbackId,
  makeTransactionId,
  type OrderNumbered,
  parseCaptureBody,
  parseReleaseBody,
  type ReleaseAnswer,
  toPositiveMinorUnits,
  toWireAmount,
} from '@tillgate/protocol'
import type { ClockAndRandom } from '../../../platform/runtime/clock.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import type { Merchant } from '../../merchants/rules/merchant.ts'
import type { CurrentOrder } from '../current-order.ts'
import type { ExplainMissingOrder } from '../explain-missing-order.ts'
import type { PriceDirectory } from '../fees/price-directory.ts'
import { isHeld, type Order } from '../rules/order.ts'
import type { Actor } from '../rules/status-change.ts'
import type { OrderStore } from '../store/orders.ts'
import {
  type AskedCapture,
  type Capture,
  captureIdOf,
  captureOrder,
  captureStatusOf,
  differingCaptureField,
  endAuthorization,
  isUnderWay,
  notAllowed,
  planCapture,
} from './rules/capture.ts'
import type { CaptureStore } from './store/captures.ts'

export interface CaptureOrderParts extends ClockAndRandom {
  readonly orders: Pick<OrderStore, 'findOrder' | 'findOrderByNumber'>
  readonly currentOrder: CurrentOrder
  readonly explainMissingOrder: ExplainMissingOrder
  readonly captures: CaptureStore
  readonly prices: Pick<PriceDirectory, 'current'>
  /** Asks the rail that holds the money now instead of a moment later. */
  readonly askRailNow: (order: Order) => Promise<unknown>
  /** Defaults to the merchant, without an audit entry. */
  readonly by?: { readonly actor: Actor; readonly entry: AuditEntry }
}

interface Found {
  readonly order: Order
  readonly captures: readonly Capture[]
}

/** Each lost race is another committed change of this order, so tries are bounded. */
const maxTries = 100

export function makeCaptureOrder(parts: CaptureOrderParts) {
  return async ({ merchantId }: Merchant, body: string): Promise<CaptureAnswer> => {
    const asked = parseCaptureBody(body)
    let isRailAsked = false
    for (let tries = 0; tries < maxTries; tries++) {
      const { order, captures } = await find(parts, merchantId, asked.order)
      if (!isRailAsked && captures.some(isUnderWay)) {
        isRailAsked = true
        await parts.askRailNow(order)
        continue
      }
      const wanted: AskedCapture = {
        ...asked,
        amountMinor:
          asked.amount === undefined
            ? undefined
            : toPositiveMinorUnits(asked.amount, order.currency, 'amount'),
      }
      const earlier = captures.find(({ referCaptureNo }) => referCaptureNo === asked.referCaptureNo)
      if (earlier) {
        checkSame(earlier, wanted, { order, isLast: earlier === captures.at(-1) })
        if (earlier.failure !== undefined) throw declined(earlier)
        return { ...captureAnswer(order, earlier), ...ignoring(asked) }
      }
      const ordinal = captures.length + 1
      if (order.railId !== undefined) {
        checkNoneUnderWay(captures)
        const planned = planCapture(order, wanted, { ordinal, nowMs: parts.clock.now() })
        const asking = { nowMs: parts.clock.now(), entry: parts.by?.entry }
        if ((await parts.captures.askForCapture(order, planned, asking)) === 'releasing')
          throw notAllowed('The authorization is being released. Nothing more can be captured.')
        continue
      }
      const change = captureOrder(order, wanted, {
        ...(await given(parts)),
        ordinal,
        prices: await parts.prices.current(),
      })
      const outcome = await parts.captures.commitHeldChange(change, { entry: parts.by?.entry })
      if (outcome === 'done' && change.capture)
        return { ...captureAnswer(change.order, change.capture), ...ignoring(asked) }
    }
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }
}

export function makeReleaseOrder(parts: Omit<CaptureOrderParts, 'prices'>) {
  return async ({ merchantId }: Merchant, body: string): Promise<ReleaseAnswer> => {
    const asked = parseReleaseBody(body)
    let isRailAsked = false
    for (let tries = 0; tries < maxTries; tries++) {
      const { order } = await find(parts, merchantId, asked.order)
      const isOver = order.authorization?.heldUntilMs !== undefined && !isHeld(order)
      // A repeated release finds what it wants: nothing is held, or the rail still releases it.
      if (isOver || isRailAsked) return { ...heldAnswer(order), ...ignoring(asked) }
      if (order.railId !== undefined && isHeld(order)) {
        await parts.captures.askForRelease(order, { nowMs: parts.clock.now(), entry: parts.by?.entry })
        await parts.askRailNow(order)
        isRailAsked = true
        continue
      }
      const reason = 'The authorization was released.'
      const change = endAuthorization(order, { ...(await given(parts)), reason })
      const outcome = await parts.captures.commitHeldChange(change, { entry: parts.by?.entry })
      if (outcome === 'done') return { ...heldAnswer(change.order), ...ignoring(asked) }
    }
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }
}

function checkNoneUnderWay(captures: readonly Capture[]): void {
  const other = captures.find(isUnderWay)
  if (!other) return
  throw notAllowed(
    `The rail is still processing the capture ${other.referCaptureNo}. Send this capture after it completes.`,
  )
}

function declined({ failure }: Capture): Failure {
  return notAllowed(
    `Nothing was captured: ${failure} Correct the cause, and try again with a new referCaptureNo.`,
  )
}

async function given({ clock, random, by }: Pick<CaptureOrderParts, 'clock' | 'random' | 'by'>) {
  const nowMs = clock.now()
  return {
    transferId: makeTransactionId(nowMs, random),
    callbackId: makeCallbackId(nowMs, random),
    actor: by?.actor ?? ('merchant' as const),
    nowMs,
  }
}

/** Captures are read after the order, so a capture that was committed meanwhile is seen and the order is read again. */
async function find(
  parts: Omit<CaptureOrderParts, 'prices'>,
  merchantId: string,
  asked: OrderNumbered,
): Promise<Found> {
  for (;;) {
    const stored = await (asked.paymentId === undefined
      ? parts.orders.findOrderByNumber({ merchantId, orderNo: asked.orderNo })
      : parts.orders.findOrder({ merchantId, paymentId: asked.paymentId }))
    if (!stored)
      throw await parts.explainMissingOrder(
        merchantId,
        asked.paymentId === undefined
          ? { field: 'orderNo', number: asked.orderNo }
          : { field: 'paymentId', number: asked.paymentId },
      )
    const order = await parts.currentOrder(stored, parts.clock.now())
    if (!order.authorization) return { order, captures: [] }
    const captures = await parts.captures.listCaptures(order)
    const made = captures.filter(({ capturedAtMs }) => capturedAtMs !== undefined)
    const sumMinor = made.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
    if (sumMinor === order.authorization.capturedMinor) return { order, captures }
  }
}

function checkSame(
  earlier: Capture,
  asked: AskedCapture,
  facts: Parameters<typeof differingCaptureField>[2],
): void {
  const field = differingCaptureField(earlier, asked, facts)
  if (field === undefined) return
  throw new Failure('number_already_used', {
    field,
    message: `referCaptureNo ${asked.referCaptureNo} was already used for a capture with another ${field}. Repeat that capture as it was, or use a new referCaptureNo.`,
  })
}

function captureAnswer(order: Order, capture: Capture): CaptureAnswer {
  const { transactionId = '' } = order
  return {
    ...heldAnswer(order),
    referCaptureNo: capture.referCaptureNo,
    transactionId: captureIdOf(transactionId, capture.ordinal),
    captureAmount: toWireAmount(capture.amountMinor, order.currency),
    captureStatus: captureStatusOf(capture),
  }
}

function heldAnswer(order: Order): ReleaseAnswer {
  return {
    paymentId: order.paymentId,
    referOrderNo: order.orderNo,
    status: order.status,
    currency: order.currency,
    ...authorizedAmounts(order),
  }
}

/** In the order's currency. */
export function authorizedAmounts(order: Order) {
  const { authorizedMinor = 0n, capturedMinor = 0n } = order.authorization ?? {}
  const remainingMinor = isHeld(order) ? authorizedMinor - capturedMinor : 0n
  return {
    authorizedAmount: toWireAmount(authorizedMinor, order.currency),
    capturedAmount: toWireAmount(capturedMinor, order.currency),
    remainingAmount: toWireAmount(remainingMinor, order.currency),
  }
}
