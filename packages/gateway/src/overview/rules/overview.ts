// What the overview tells of a stretch of time: orders and callbacks made in it and what has become of them since, and
// the requests that were answered in it. Stretches are added up to longer ones.
import type { OrderStatus } from '@tillgate/protocol'
import type { CallbackState } from '../../callbacks/rules/callback-attempt.ts'
import { type Durations, mergeDurations } from './durations.ts'

export interface OrderTally {
  readonly currency: string
  readonly status: OrderStatus
  readonly orders: number
  readonly amountMinor: bigint
}

export interface Figures {
  /** One for each currency and status that occurs. */
  readonly orders: readonly OrderTally[]
  /** From creation to success. */
  readonly paidAfter: Durations
  readonly callbacks: Readonly<Record<CallbackState, number>>
  /** From the event to the delivery. */
  readonly deliveredAfter: Durations
}

/** Requests to the merchant API: all, those refused (4xx), those that failed by our fault (5xx). */
export interface Traffic {
  readonly requests: number
  readonly refused: number
  readonly failed: number
  readonly answeredAfter: Durations
}

export const noFigures: Figures = {
  orders: [],
  paidAfter: new Map(),
  callbacks: { waiting: 0, delivered: 0, exhausted: 0 },
  deliveredAfter: new Map(),
}

export const noTraffic: Traffic = { requests: 0, refused: 0, failed: 0, answeredAfter: new Map() }

export function addFigures(all: readonly Figures[]): Figures {
  return {
    orders: addTallies(all.flatMap(({ orders }) => orders)),
    paidAfter: mergeDurations(all.map(({ paidAfter }) => paidAfter)),
    callbacks: {
      waiting: sum(all.map(({ callbacks }) => callbacks.waiting)),
      delivered: sum(all.map(({ callbacks }) => callbacks.delivered)),
      exhausted: sum(all.map(({ callbacks }) => callbacks.exhausted)),
    },
    deliveredAfter: mergeDurations(all.map(({ deliveredAfter }) => deliveredAfter)),
  }
}

export function addTraffic(all: readonly Traffic[]): Traffic {
  return {
    requests: sum(all.map(({ requests }) => requests)),
    refused: sum(all.map(({ refused }) => refused)),
    failed: sum(all.map(({ failed }) => failed)),
    answeredAfter: mergeDurations(all.map(({ answeredAfter }) => answeredAfter)),
  }
}

function addTallies(tallies: readonly OrderTally[]): OrderTally[] {
  const added = new Map<string, OrderTally>()
  for (const tally of tallies) {
    const key = `${tally.currency} ${tally.status}`
    const before = added.get(key)
    added.set(
      key,
      before
        ? {
            ...tally,
            orders: before.orders + tally.orders,
            amountMinor: before.amountMinor + tally.amountMinor,
          }
        : tally,
    )
  }
  return [...added.values()]
}

export function countOrders({ orders }: Figures, isWanted: (tally: OrderTally) => boolean): number {
  return sum(orders.filter(isWanted).map((tally) => tally.orders))
}

export function addAmounts({ orders }: Figures, isWanted: (tally: OrderTally) => boolean): bigint {
  return orders.filter(isWanted).reduce((all, { amountMinor }) => all + amountMinor, 0n)
}

const openStatuses: readonly OrderStatus[] = ['pending', 'confirming']

export function isOpen({ status }: { readonly status: OrderStatus }): boolean {
  return openStatuses.includes(status)
}

/** Of the orders that have come to an end, the share that was paid; undefined while none has. */
export function successRate(figures: Figures): number | undefined {
  const ended = countOrders(figures, (tally) => !isOpen(tally))
  return ended === 0 ? undefined : countOrders(figures, ({ status }) => status === 'success') / ended
}

/** Of the callbacks made, the share that has been delivered; undefined when none was made. */
export function deliveredShare({ callbacks }: Figures): number | undefined {
  const made = madeCallbacks(callbacks)
  return made === 0 ? undefined : callbacks.delivered / made
}

export function madeCallbacks({ waiting, delivered, exhausted }: Figures['callbacks']): number {
  return waiting + delivered + exhausted
}

/** Nothing in it changes any more. */
export function isSettled(figures: Figures): boolean {
  return countOrders(figures, isOpen) === 0 && figures.callbacks.waiting === 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0)
}
