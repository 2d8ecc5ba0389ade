// One process of the gateway as gateway.ts puts it together: the real stores, operations and workers, over a pool, a
// clock, a rail and a network that the run holds. What is left out is HTTP and the sealing of envelopes.

import { makeCallbackId as makeUuid } from '@tillgate/protocol'
import { pino } from 'pino'
import {
  makeHoldCallback,
  makeRecordAttempt,
  type Prepared,
} from '../../packages/gateway/src/callbacks/deliver-callbacks.ts'
import { makeResendCallbacks } from '../../packages/gateway/src/callbacks/resend-callbacks.ts'
import { makeCallbackHistory } from '../../packages/gateway/src/callbacks/store/callback-history.ts'
import { makeCallbackOutcomes } from '../../packages/gateway/src/callbacks/store/callback-outcomes.ts'
import {
  type ClaimedCallback,
  makeCallbackQueue,
} from '../../packages/gateway/src/callbacks/store/callback-queue.ts'
import { makeCallbackResends } from '../../packages/gateway/src/callbacks/store/callback-resends.ts'
import type { OnQueued } from '../../packages/gateway/src/callbacks/store/callbacks.ts'
import { makeTidyCallbacks } from '../../packages/gateway/src/callbacks/tidy-callbacks.ts'
import { CallbackHosts } from '../../packages/gateway/src/merchants/callback-hosts.ts'
import { makeMerchantStore } from '../../packages/gateway/src/merchants/store/merchants.ts'
import { makeCancelOrder } from '../../packages/gateway/src/orders/cancel-order.ts'
import { makeCreateOrder } from '../../packages/gateway/src/orders/create-order.ts'
import { makeCurrentOrder } from '../../packages/gateway/src/orders/current-order.ts'
import { makeExpireOrders } from '../../packages/gateway/src/orders/expire-orders.ts'
import { makeQueryOrder } from '../../packages/gateway/src/orders/query-order.ts'
import { makeOrderStore } from '../../packages/gateway/src/orders/store/orders.ts'
import { makeSettleDue } from '../../packages/gateway/src/payments/settle.ts'
import { makePaymentStore } from '../../packages/gateway/src/payments/store/payments.ts'
import { makeSettlingStore } from '../../packages/gateway/src/payments/store/settling.ts'
import { makeSubmitPayment } from '../../packages/gateway/src/payments/submit-payment.ts'
import { parseUrlPolicy } from '../../packages/gateway/src/platform/ssrf-guard.ts'
import { makeRefundOrder } from '../../packages/gateway/src/refunds/refund-order.ts'
import { makeRefundStore } from '../../packages/gateway/src/refunds/store/refunds.ts'
import { makeMoveFunds } from '../../packages/gateway/src/treasury/move-funds.ts'
import { makeTreasuryStore } from '../../packages/gateway/src/treasury/store/treasury.ts'
import { makeWalletStore } from '../../packages/gateway/src/wallets/store/wallets.ts'
import { startDeliveryWorker } from '../../packages/gateway/src/workers/deliver-callbacks.ts'
import { startExpiryWorker } from '../../packages/gateway/src/workers/expire-orders.ts'
import { startSettleWorker } from '../../packages/gateway/src/workers/settle.ts'
import { startTidyWorker } from '../../packages/gateway/src/workers/tidy-callbacks.ts'
import type { SimulatedNetwork } from './network.ts'
import type { SimulatedRail } from './rail.ts'
import type { Owner } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import type { SimulatedPool } from './simulated-pool.ts'
import type { VirtualTime, Worker } from './time.ts'

export interface SimulatedGatewayParts {
  readonly owner: Owner
  readonly pool: SimulatedPool
  readonly time: VirtualTime
  readonly skewMs: number
  readonly seeded: Seeded
  readonly rail: SimulatedRail
  readonly network: SimulatedNetwork
}

export type SimulatedGateway = ReturnType<typeof startSimulatedGateway>

const log = pino({ level: 'silent' })
const limits = { inFlight: 64, inFlightPerHost: 8, inFlightPerMerchant: 16 } as const

export function startSimulatedGateway(parts: SimulatedGatewayParts) {
  const { owner, time, skewMs, seeded } = parts
  const clock = time.clockOf(owner, { skewMs })
  const random = (count: number) => seeded.bytes(count)
  const { pool } = parts
  const onQueued: OnQueued = (lanes) => delivery.expects(lanes)
  const [orders, payments, refunds] = [
    makeOrderStore(pool, { onQueued }),
    makePaymentStore(pool, onQueued),
    makeRefundStore(pool),
  ]
  const [merchants, wallets, settling] = [
    makeMerchantStore(pool),
    makeWalletStore(pool),
    makeSettlingStore(pool, { onQueued }),
  ]
  const [queue, history] = [makeCallbackQueue(pool), makeCallbackHistory(pool)]
  const currentOrder = makeCurrentOrder({ orders, random })
  const rail = parts.rail.for(owner)
  const idling = (idle: Worker) => ({ clock: time.clockOf(owner, { skewMs, idle }), log })

  const expiry = startExpiryWorker({
    ...idling('expire'),
    expireOrders: makeExpireOrders({ orders, clock, random }),
    nextExpiry: orders.nextExpiry,
  })
  const settle = startSettleWorker({
    ...idling('settle'),
    settleDue: makeSettleDue({ settling, orders, refunds, rail, clock, random, onTrouble: () => {} }),
    nextDue: settling.nextDue,
  })
  const delivery = startDeliveryWorker({
    ...idling('deliver'),
    queue,
    prepare: async (callback) => sealedPlainly(callback, clock.now()),
    send: parts.network.for(owner),
    record: makeRecordAttempt({
      outcomes: makeCallbackOutcomes(pool, { gatherMs: undefined }),
      clock,
      random,
    }),
    hold: makeHoldCallback({ queue, clock }),
    newClaimId: () => makeUuid(clock.now(), random),
    limits,
    signers: 4,
  })
  startTidyWorker({ ...idling('tidy'), tidy: makeTidyCallbacks({ history, historyDays: 90, clock }) })

  const onSubmitted = settle.wake
  return {
    owner,
    pool,
    clock,
    createOrder: makeCreateOrder({
      orders,
      currentOrder,
      callbackHosts: new CallbackHosts({ merchants, maxHostsPerDay: 20, clock }),
      urlPolicy: parseUrlPolicy({ mode: 'live', allowedTargets: [] }),
      publicUrl: 'https://pay.example',
      linkTokens: { make: ([, paymentId = '']) => paymentId, isRight: () => false },
      clock,
      random,
      onPending: expiry.expects,
    }),
    queryOrder: makeQueryOrder({ refunds, currentOrder, clock }),
    cancelOrder: makeCancelOrder({ orders, currentOrder, clock }),
    resendCallbacks: makeResendCallbacks({ orders, resends: makeCallbackResends(pool, onQueued), clock }),
    refundOrder: makeRefundOrder({ orders, currentOrder, refunds, clock, random, onSubmitted }),
    submitPayment: makeSubmitPayment({ orders, currentOrder, payments, wallets, clock, random, onSubmitted }),
    funds: makeMoveFunds({ treasury: makeTreasuryStore(pool), clock, random, actor: 'simulation' }),
  }
}

/** What the envelope carries, without its cryptography, which costs three milliseconds and depends on nothing here. */
function sealedPlainly(
  { callbackId: id, merchantId, eventName, callbackUrl: url, body }: ClaimedCallback,
  timestamp: number,
): Extract<Prepared, { kind: 'sealed' }> {
  const envelope = JSON.stringify({ id, merchantId, eventName, timestamp, body })
  return { kind: 'sealed', url, body: envelope, isPublicOnly: false }
}
