// Stores overdue orders as `timeout`, with their callback.
import { makeCallbackId, type RandomBytes } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import { expireOrder } from './rules/status-change.ts'
import type { OrderStore } from './store/orders.ts'

export interface ExpireOrdersParts {
  readonly orders: Pick<OrderStore, 'expireOverdue'>
  readonly clock: Clock
  readonly random: RandomBytes
}

export interface Expiry {
  readonly expired: number
  readonly more: boolean
}

/** Keeps each transaction and its locks at some tens of milliseconds. */
export const expiryBatch = 500

export function makeExpireOrders({ orders, clock, random }: ExpireOrdersParts) {
  return async (): Promise<Expiry> => {
    const nowMs = clock.now()
    const { found, expired } = await orders.expireOverdue(nowMs, expiryBatch, (order) =>
      expireOrder(order, { nowMs, callbackId: makeCallbackId(nowMs, random) }),
    )
    return { expired, more: found === expiryBatch }
  }
}
