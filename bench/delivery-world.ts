// The delivery of callbacks with its real parts, over a database of its own, for the scenarios that measure it.

import { availableParallelism } from 'node:os'
import { makeCallbackId, makePaymentId, sealCallback } from '@tillgate/protocol'
import { pino } from 'pino'
import { makeStores } from '../packages/gateway/src/app/database/stores.ts'
import { startDeliveryWorker } from '../packages/gateway/src/app/jobs/delivery-worker.ts'
import { makeOperations } from '../packages/gateway/src/app/operations.ts'
import { readConfig } from '../packages/gateway/src/app/settings/config.ts'
import type { Post } from '../packages/gateway/src/core/callbacks/deliver-callbacks.ts'
import type { Callback } from '../packages/gateway/src/core/callbacks/rules/callback.ts'
import { insertCallbacks } from '../packages/gateway/src/core/callbacks/store/callbacks.ts'
import type { Pool } from '../packages/gateway/src/platform/database/pool.ts'
import { outboundLimits } from '../packages/gateway/src/platform/outbound/limits.ts'
import {
  makeOutbound,
  type OutboundPolicy,
  systemParts,
} from '../packages/gateway/src/platform/outbound/outbound.ts'
import { systemClock as clock } from '../packages/gateway/src/platform/runtime/clock.ts'
import { makeRandom } from '../packages/gateway/src/platform/runtime/node-workarounds/random.ts'
import { makeVault } from '../packages/gateway/src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../packages/gateway/test/support/acting.ts'
import type { World } from './world.ts'

export const inFlight = 64
const random = makeRandom()
const bodyLength = 1_000

export async function makeDeliveryWorld(
  world: Pick<World, 'merchantId' | 'masterKey' | 'publicKey'>,
  pool: Pool,
) {
  const { merchantId } = world
  const stores = makeStores(pool)
  const operations = makeOperations(stores, {
    config: readConfig({}),
    publicUrl: 'http://localhost',
    vault: makeVault(world.masterKey),
    clock,
    random,
    log: pino({ level: 'silent' }),
  })
  const { directory, signingKeys } = operations
  await signingKeys.ensure({ clock, random })
  const { known } = await directory.load(merchantId, clock.now())
  const aesKey = known?.callbackKey
  if (!aesKey) throw new Error('the merchant has no AES key')
  const { privateKey } = await signingKeys.signing(clock.now())
  const policy: OutboundPolicy = { mode: 'sandbox', allowedTargets: [], ...outboundLimits }
  const outbound = makeOutbound(policy, systemParts())

  return {
    post: outbound.post,
    startWorker: (post: Post = outbound.post) =>
      startDeliveryWorker({
        queue: stores.callbackQueue,
        prepare: operations.prepareCallback,
        send: post,
        record: operations.recordAttempt,
        flush: stores.callbackOutcomes.flush,
        hold: operations.holdCallback,
        newClaimId: () => makeCallbackId(clock.now(), random),
        limits: { inFlight: 1_024, inFlightPerHost: 192, inFlightPerMerchant: 256 },
        signers: 4 * availableParallelism(),
        clock,
        log: pino({ level: 'silent' }),
      }),
    /** What any sender must do: seal with a fresh signature, and post. */
    async sealAndPost(url: string, body: string): Promise<void> {
      const id = makeCallbackId(clock.now(), random)
      const envelope = await sealCallback(
        { id, merchantId, eventName: 'payment.order.success', timestamp: clock.now(), body },
        { aesKey, privateKey },
      )
      const answer = await outbound.post({ url, body: JSON.stringify(envelope) })
      if (answer.kind !== 'answered' || answer.httpStatus !== 200) throw new Error(JSON.stringify(answer))
    },
    async addMerchant(name: string): Promise<string> {
      const { merchants } = actingAs(operations, 'bench')
      return (await merchants.addMerchant({ name, publicKey: world.publicKey })).merchant.merchantId
    },
    /** Due at once, unless told otherwise. */
    async fill(targets: readonly Target[], nowMs = clock.now()): Promise<void> {
      const callbacks = targets.map((target) => makeCallback(target, nowMs))
      await pool.query(orderSql, [
        callbacks.map((callback) => callback.merchantId),
        callbacks.map(({ paymentId }) => paymentId),
        nowMs,
        callbacks.map(({ callbackUrl }) => callbackUrl),
      ])
      await pool.transaction((transaction) => insertCallbacks(transaction, callbacks))
      await pool.query('vacuum analyze callbacks, callback_queue')
    },
    close: () => outbound.close(),
  }
}

const orderSql = `
insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                    payment_time, expires_at, callback_url, content, created_at)
select merchant_id, id, id, 'timeout', 'WEB', 100, 'USD', $3::bigint, $3::bigint + 300000, url, '{}', $3::bigint
  from unnest($1::text[], $2::text[], $4::text[]) as o (merchant_id, id, url)`

/** As long as a payment result, and a text of its own, as every event has. */
export function makeBody(): string {
  return makePaymentId(clock.now(), random).padEnd(bodyLength, 'x')
}

export interface Target {
  readonly merchantId: string
  readonly callbackUrl: string
}

function makeCallback({ merchantId, callbackUrl }: Target, nowMs: number): Callback {
  return {
    merchantId,
    callbackId: makeCallbackId(nowMs, random),
    paymentId: makePaymentId(nowMs, random),
    refundId: undefined,
    eventName: 'payment.order.success',
    callbackUrl,
    body: makeBody(),
    createdAtMs: nowMs,
  }
}
