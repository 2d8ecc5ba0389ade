// Starts a consumer's payment at a rail, or leaves it. The attempt commits before the rail is called; a worker
// continues if the call brings no response. An order has at most one open attempt.
import { Failure, makeTransactionId, type OrderStatus, type RandomBytes } from '@tillgate/protocol'
import type { CurrentOrder } from '../../core/orders/current-order.ts'
import type { RailTask } from '../../core/orders/payments/rules/rail-task.ts'
import type { Order, OrderKey } from '../../core/orders/rules/order.ts'
import type { OrderStore } from '../../core/orders/store/orders.ts'
import { CommitUnknown } from '../../platform/database/transient.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { AskRails } from './ask-rails.ts'
import type { RailDirectory } from './rail-directory.ts'
import { type Attempt, beginAttempt } from './rules/attempt.ts'
import { isOffered } from './rules/outside-rail.ts'
import type { RailAttemptStore } from './store/rail-attempts.ts'

export interface PayByRailParts {
  readonly attempts: RailAttemptStore
  readonly askRails: Pick<AskRails, 'askNow' | 'work' | 'claiming' | 'enter'>
  readonly railDirectory: RailDirectory
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly currentOrder: CurrentOrder
  readonly clock: Clock
  readonly random: RandomBytes
}

export type RailPaymentOutcome =
  | { readonly kind: 'started'; readonly attempt: Attempt }
  /** Another attempt is still being cancelled. */
  | { readonly kind: 'attempt_open'; readonly attempt: Attempt }
  | { readonly kind: 'rail_not_offered' }
  | { readonly kind: 'order_not_payable'; readonly status: OrderStatus }

export interface RailChoice extends OrderKey {
  readonly railId: string
  readonly locale: string
}

/** Only lost connections are retried: after a lost race, an attempt is open or the order is no longer payable. */
const maxTries = 5

export type PayByRail = ReturnType<typeof makePayByRail>

export function makePayByRail(parts: PayByRailParts) {
  const { attempts, askRails, railDirectory, clock, random } = parts
  return { start, leave, look }

  async function start({ railId, locale, ...key }: RailChoice): Promise<RailPaymentOutcome> {
    // One id for all tries, so that the order shows which try committed.
    const transactionId = makeTransactionId(clock.now(), random)
    for (let tries = 0; tries < maxTries; tries++) {
      const order = await find(key)
      if (order.status !== 'pending') return { kind: 'order_not_payable', status: order.status }
      if (order.openAttempt === transactionId) return started(order, transactionId)
      if (order.openAttempt !== undefined) {
        const open = await existing(order, order.openAttempt)
        if (open.railId === railId && open.cancelAskedAtMs === undefined)
          return { kind: 'started', attempt: open }
        const left = await leave(key)
        if (left?.endedAtMs === undefined && left !== undefined)
          return { kind: 'attempt_open', attempt: left }
        continue
      }
      const known = await railDirectory.find(railId)
      const nowMs = clock.now()
      const toPay = {
        ...key,
        currency: order.currency,
        amountMinor: order.paymentAmountMinor,
        isCaptured: order.authorization !== undefined,
      }
      if (!known || !isOffered(known.rail, toPay, nowMs)) return { kind: 'rail_not_offered' }
      const begun = await begin(order, { railId, transactionId, locale, nowMs })
      if (begun) return started(order, transactionId, begun.attempt)
    }
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }

  /** Commits the attempt and calls the rail at once if it has room. Undefined: read again. */
  async function begin(
    order: Order,
    given: Parameters<typeof beginAttempt>[1],
  ): Promise<{ readonly attempt: Attempt | undefined } | undefined> {
    const { railId, transactionId, nowMs } = given
    const { merchantId, paymentId } = order
    const base = { taskId: transactionId, kind: 'payment', createdAtMs: nowMs } as const
    const task: RailTask = { ...base, railId, merchantId, paymentId, transactionId }
    const { claimId, leaseMs } = askRails.claiming()
    const leave = askRails.enter(railId)
    const attempt = beginAttempt(order, given)
    try {
      const isBegun = await attempts.begin({
        attempt,
        task: { ...task, ...(leave ? { dueAtMs: nowMs + leaseMs, claimId } : { dueAtMs: nowMs }) },
      })
      if (isBegun && leave) {
        const known = { order: { ...order, openAttempt: transactionId }, attempt }
        return { attempt: await askRails.work({ ...task, claimId, claims: 1, failures: 0 }, leave, known) }
      }
      leave?.()
      return isBegun ? { attempt } : undefined
    } catch (error) {
      leave?.()
      if (error instanceof CommitUnknown) return undefined
      throw error
    }
  }

  async function started(order: Order, transactionId: string, known?: Attempt): Promise<RailPaymentOutcome> {
    return { kind: 'started', attempt: known ?? (await existing(order, transactionId)) }
  }

  /** Cancels the open attempt if the rail allows it, and returns its new state; undefined if there is none. */
  async function leave(key: OrderKey): Promise<Attempt | undefined> {
    const { openAttempt: transactionId, ...order } = await find(key)
    if (transactionId === undefined) return undefined
    await attempts.askToCancel({ merchantId: order.merchantId, transactionId }, clock.now())
    return look({ ...order, openAttempt: transactionId })
  }

  /** The rail's current state, if it can be called at once. */
  async function look(order: Order): Promise<Attempt | undefined> {
    const transactionId = order.openAttempt ?? order.transactionId
    if (transactionId === undefined || (order.openAttempt === undefined && order.railId === undefined))
      return undefined
    const attempt = await existing(order, transactionId)
    if (attempt.endedAtMs !== undefined) return attempt
    const asked = await askRails.askNow({ order, attempt })
    return asked.attempt ?? existing(order, transactionId)
  }

  async function find(key: OrderKey): Promise<Order> {
    const stored = await parts.orders.findOrder(key)
    if (!stored) throw new Failure('order_not_found')
    return parts.currentOrder(stored, clock.now())
  }

  async function existing({ merchantId }: OrderKey, transactionId: string): Promise<Attempt> {
    const attempt = await attempts.findAttempt({ merchantId, transactionId })
    if (!attempt) throw new Error('an order names an attempt that does not exist')
    return attempt
  }
}
