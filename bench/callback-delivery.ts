// What the queue costs: callbacks delivered to a healthy local receiver through the queue, beside the very same
// deliveries made with no queue at all (seal on the thread pool, POST, 64 in flight), in turns within one run.
// `node bench/callback-delivery.ts [rounds] [callbacks a round]`
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { makeCallbackId, makePaymentId, sealCallback } from '@tillgate/protocol'
import { pino } from 'pino'
import { systemClock as clock } from '../packages/gateway/src/clock.ts'
import { openDatabase } from '../packages/gateway/src/database/open-database.ts'
import type { Callback } from '../packages/gateway/src/domain/callback.ts'
import {
  makeHoldCallback,
  makePrepareCallback,
  makeRecordAttempt,
  makeSendCallback,
} from '../packages/gateway/src/operations/deliver-callbacks.ts'
import { makeManageMerchants } from '../packages/gateway/src/operations/manage-merchants.ts'
import { MerchantDirectory } from '../packages/gateway/src/operations/merchant-directory.ts'
import { PlatformKeys } from '../packages/gateway/src/operations/platform-keys.ts'
import { outboundLimits } from '../packages/gateway/src/outbound/limits.ts'
import { makeOutbound, type OutboundPolicy, systemParts } from '../packages/gateway/src/outbound/outbound.ts'
import { makeCallbackOutcomes } from '../packages/gateway/src/store/callback-outcomes.ts'
import { makeCallbackQueue } from '../packages/gateway/src/store/callback-queue.ts'
import { hostOf, insertCallbacks } from '../packages/gateway/src/store/callbacks.ts'
import { makeMerchantStore } from '../packages/gateway/src/store/merchants.ts'
import { makePlatformKeyStore } from '../packages/gateway/src/store/platform-keys.ts'
import { makeVault } from '../packages/gateway/src/vault.ts'
import { startDeliveryWorker } from '../packages/gateway/src/workers/deliver-callbacks.ts'

const inFlight = 64
const rounds = Number(process.argv[2] ?? 10)
const perRound = Number(process.argv[3] ?? 1_000)
/** About what a payment result and its envelope come to. */
const bodyText = 'x'.repeat(1_000)

const orderSql = `
insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                    payment_time, expires_at, callback_url, content, checkout_token, created_at)
select $1, id, id, 'timeout', 'WEB', 100, 'USD', $3::bigint, $3::bigint + 300000, $4, '{}', 'token', $3::bigint
  from unnest($2::text[]) as o (id)`

if (isMainThread) await main()
else await receive()

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tillgate-bench-'))
  const receiver = new Worker(new URL(import.meta.url))
  const [port] = await once(receiver, 'message')
  const database = await openDatabase({
    dataDir: folder,
    databaseUrl: process.env['DATABASE_URL'],
    poolMax: 10,
    migrationsFolder: join(import.meta.dirname, '../packages/gateway/migrations'),
    tell: () => {},
    signal: new AbortController().signal,
  })
  try {
    await compare(database.pool, `http://127.0.0.1:${port}/callbacks`)
  } finally {
    await database.close()
    await receiver.terminate()
    await rm(folder, { recursive: true, force: true })
  }
}

async function compare(
  pool: Awaited<ReturnType<typeof openDatabase>>['pool'],
  callbackUrl: string,
): Promise<void> {
  const vault = makeVault(randomBytes(32))
  const merchants = makeMerchantStore(pool)
  const directory = new MerchantDirectory({ store: merchants, vault })
  const platformKeys = new PlatformKeys({ store: makePlatformKeyStore(pool), vault })
  await platformKeys.ensure({ clock, random: randomBytes })
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { merchant } = await makeManageMerchants({
    merchants,
    vault,
    clock,
    random: randomBytes,
    actor: 'bench',
  }).addMerchant({ name: 'Shop', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() })
  const { merchantId } = merchant

  const policy: OutboundPolicy = { mode: 'sandbox', allowedTargets: [], ...outboundLimits }
  const outbound = makeOutbound(policy, systemParts(policy))
  const queue = makeCallbackQueue(pool)
  const worker = startDeliveryWorker({
    queue,
    prepare: makePrepareCallback({ directory, platformKeys, clock }),
    send: makeSendCallback(outbound.post),
    record: makeRecordAttempt({ outcomes: makeCallbackOutcomes(pool), clock, random: randomBytes }),
    hold: makeHoldCallback({ queue, clock }),
    newClaimId: () => makeCallbackId(clock.now(), randomBytes),
    limits: { inFlight: 1_024, inFlightPerHost: 128, inFlightPerMerchant: 256 },
    signers: 4 * availableParallelism(),
    clock,
    log: pino({ level: 'silent' }),
  })

  const { known } = await directory.load(merchantId, clock.now())
  const aesKey = known?.keys.aesKeys.at(-1)
  if (!aesKey) throw new Error('the merchant has no AES key')
  const { privateKey } = await platformKeys.signing(clock.now())

  const bare = async (): Promise<number> => {
    let left = perRound
    return timed(async () => {
      const lane = async (): Promise<void> => {
        while (left-- > 0) {
          const id = makeCallbackId(clock.now(), randomBytes)
          const envelope = await sealCallback(
            { id, merchantId, eventName: 'payment.order.success', timestamp: clock.now(), body: bodyText },
            { aesKey, privateKey },
          )
          const answer = await outbound.post({ url: callbackUrl, body: JSON.stringify(envelope) })
          if (answer.kind !== 'answered' || answer.httpStatus !== 200) throw new Error(JSON.stringify(answer))
        }
      }
      await Promise.all(Array.from({ length: inFlight }, lane))
    })
  }

  const queued = async (): Promise<number> => {
    const nowMs = clock.now()
    const callbacks = Array.from({ length: perRound }, () => makeCallback(nowMs, merchantId, callbackUrl))
    await pool.query(orderSql, [merchantId, callbacks.map(({ paymentId }) => paymentId), nowMs, callbackUrl])
    await pool.transaction((transaction) => insertCallbacks(transaction, callbacks))
    const before = worker.counts().acknowledged
    return timed(async () => {
      worker.expects([{ merchantId, host: hostOf(callbackUrl) }])
      while (worker.counts().acknowledged - before < perRound) await pause(5)
    })
  }

  await bare()
  await queued()
  const bareMs: number[] = []
  const queuedMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) bareMs.push(await bare())
    queuedMs.push(await queued())
    if (round % 2 === 1) bareMs.push(await bare())
  }
  const rate = (times: readonly number[]) => (perRound * 1_000) / median(times)
  const ratios = bareMs.map((time, round) => time / (queuedMs[round] ?? time))
  const all = sum(bareMs) / sum(queuedMs)
  console.log(`no queue:      ${rate(bareMs).toFixed(0)}/s`)
  console.log(`through queue: ${rate(queuedMs).toFixed(0)}/s`)
  console.log(
    `ratio:         ${median(ratios).toFixed(3)} median of ${rounds} rounds of ${perRound}, ${all.toFixed(3)} in all`,
  )
  await worker.stop()
  await outbound.close()
}

function makeCallback(nowMs: number, merchantId: string, callbackUrl: string): Callback {
  return {
    merchantId,
    callbackId: makeCallbackId(nowMs, randomBytes),
    paymentId: makePaymentId(nowMs, randomBytes),
    refundId: undefined,
    eventName: 'payment.order.success',
    callbackUrl,
    body: bodyText,
    createdAtMs: nowMs,
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle - 0.5)] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

// In a thread of its own, so that the receiver's work is not counted as the sender's.
async function receive(): Promise<void> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('{"code":20000,"msg":""}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  parentPort?.postMessage((server.address() as AddressInfo).port)
}
