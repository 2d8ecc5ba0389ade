// A small world for tests of callback delivery: a database of its own, a merchant with keys, a clock that the test
// moves, and delivery workers over whatever network the test brings.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type EventName,
  makeCallbackId,
  makePaymentId,
  openCallback,
  parseAesKey,
  parseCallbackEnvelope,
  parsePublicKey,
} from '@tillgate/protocol'
import { pino } from 'pino'
import { pair } from '../../../protocol/test/keys.ts'
import { type DeliveryWorker, startDeliveryWorker } from '../../src/app/jobs/delivery-worker.ts'
import type { Config } from '../../src/app/settings/config.ts'
import type { Post } from '../../src/core/callbacks/deliver-callbacks.ts'
import type { Callback } from '../../src/core/callbacks/rules/callback.ts'
import type { LaneLimits } from '../../src/core/callbacks/rules/delivery-lanes.ts'
import { callbacksQueued, insertCallbacks } from '../../src/core/callbacks/store/callbacks.ts'
import type { Publish } from '../../src/core/changes/rules/change.ts'
import { commitAndPublish } from '../../src/core/changes/store/commit.ts'
import type { Clock } from '../../src/platform/runtime/clock.ts'
import { actingAs } from './acting.ts'
import { freshDatabase } from './database.ts'
import { testOperations } from './operations.ts'

export type CallbackWorld = Awaited<ReturnType<typeof makeCallbackWorld>>

export const acknowledged = {
  kind: 'answered',
  httpStatus: 200,
  answer: Buffer.from('{"code":20000,"msg":""}'),
  durationMs: 1,
} as const

export function answered(httpStatus: number, more: { retryAfterMs?: number; text?: string } = {}) {
  const { text = '', ...rest } = more
  return { kind: 'answered', httpStatus, answer: Buffer.from(text), durationMs: 1, ...rest } as const
}

const merchantPublicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const noLimits: LaneLimits = { inFlight: 1_024, inFlightPerHost: 192, inFlightPerMerchant: 256 }

export async function makeCallbackWorld(clock: Clock) {
  const { pool, connection } = await freshDatabase()
  const workers: DeliveryWorker[] = []
  const publish: Publish = (changes) => {
    for (const change of changes)
      if (change.kind === 'callbacks') for (const worker of workers) worker.expects(change.lanes)
  }
  const { stores, operations } = testOperations(pool, { clock, publish })
  const { directory, signingKeys } = operations
  const { merchants, callbackQueue: queue, callbackHistory: history, callbackResends: resends } = stores
  await signingKeys.ensure({ clock, random: randomBytes })
  const { merchants: manage } = actingAs(operations, 'test')
  const shop = await manage.addMerchant({ name: 'Shop', publicKey: merchantPublicKey })
  const aesKeys = new Map([[shop.merchant.merchantId, shop.aesKey]])

  return {
    pool,
    connection,
    merchants,
    directory,
    signingKeys,
    manage,
    queue,
    history,
    resends,
    merchantId: shop.merchant.merchantId,

    async addMerchant(name: string): Promise<string> {
      const { merchant, aesKey } = await manage.addMerchant({ name, publicKey: merchantPublicKey })
      aesKeys.set(merchant.merchantId, aesKey)
      return merchant.merchantId
    },

    /** An order, and a callback of it that is due now. */
    async queueCallback(
      callbackUrl: string,
      more: { merchantId?: string; eventName?: EventName; paymentId?: string; callbackId?: string } = {},
    ): Promise<Callback> {
      const nowMs = clock.now()
      const merchantId = more.merchantId ?? shop.merchant.merchantId
      const paymentId = more.paymentId ?? makePaymentId(nowMs, randomBytes)
      await pool.query(orderSql, [merchantId, paymentId, nowMs, callbackUrl])
      const callback: Callback = {
        merchantId,
        callbackId: more.callbackId ?? makeCallbackId(nowMs, randomBytes),
        paymentId,
        refundId: undefined,
        eventName: more.eventName ?? 'payment.order.timeout',
        callbackUrl,
        body: JSON.stringify({ merchantId, paymentId, status: 'timeout' }),
        createdAtMs: nowMs,
      }
      await commitAndPublish(pool, publish, async (transaction) => ({
        result: callback,
        changes: callbacksQueued(await insertCallbacks(transaction, [callback])),
      }))
      return callback
    },

    startWorker(
      t: TestContext,
      post: Post,
      more: { limits?: Partial<LaneLimits>; chance?: number; clock?: Clock; config?: Config } = {},
    ): DeliveryWorker {
      const own = more.clock ?? clock
      const { operations: its, stores: itsStores } = testOperations(pool, {
        clock: own,
        random: more.chance === undefined ? randomBytes : bytesFor(more.chance),
        storeParts: { outcomes: { gatherMs: 0 } },
        ...(more.config && { config: more.config }),
      })
      const worker = startDeliveryWorker({
        queue,
        prepare: its.prepareCallback,
        send: post,
        record: its.recordAttempt,
        flush: itsStores.callbackOutcomes.flush,
        hold: its.holdCallback,
        newClaimId: () => makeCallbackId(own.now(), randomBytes),
        limits: { ...noLimits, ...more.limits },
        signers: 2,
        clock: own,
        log: pino({ level: 'silent' }),
      })
      workers.push(worker)
      t.after(async () => {
        workers.splice(workers.indexOf(worker), 1)
        await worker.stop()
      })
      return worker
    },

    /** What the merchant reads in it; fails when it is not sealed for the merchant by the gateway. */
    async open(text: string): Promise<{ id: string; sign: string; timestamp: string; body: string }> {
      const envelope = parseCallbackEnvelope(text)
      const published = await signingKeys.published(clock.now())
      const body = await openCallback(envelope, {
        aesKeys: [parseAesKey(aesKeys.get(envelope.merchantId) ?? '')],
        publicKeys: published.map((key) => parsePublicKey(key.publicKey)),
      })
      assert(body !== undefined, 'the callback opens with the merchant’s and the gateway’s keys')
      return { id: envelope.id, sign: envelope.sign, timestamp: envelope.timestamp, body }
    },

    async stored(callbackId: string) {
      const callback = await history.findCallback(callbackId)
      assert(callback)
      return callback
    },
  }
}

/** Looks again every few milliseconds until it is so. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  words = () => `it did not come to this: ${isSo}`,
): Promise<void> {
  // So long, because others may have the machine; what never comes is still told by its name.
  const deadline = performance.now() + 120_000
  while (!(await isSo())) {
    assert(performance.now() < deadline, words())
    await pause(3)
  }
}

function bytesFor(chance: number): (size: number) => Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(Math.round(chance * 0xffffffff))
  return () => bytes
}

const orderSql = `
insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                    payment_time, expires_at, callback_url, content, created_at)
values ($1, $2, $2, 'timeout', 'WEB', 100, 'USD', $3::bigint, $3::bigint + 300000, $4, '{}', $3::bigint)
    on conflict do nothing`
