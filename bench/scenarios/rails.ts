// Payments through a rail, from the consumer's choice to the books and both callbacks queued, beside the two HTTP calls
// that each of them makes, bare, and beside these with the rows of a payment written bare between them, which is what
// bounds it. Neither delivers callbacks, so nothing is signed by RSA: that is in the row of paid orders. Then the same,
// and payments from wallets, while another rail never answers.

import { setTimeout as pause } from 'node:timers/promises'
import { makeWebhookSecret, signWebhook, verifyRailResponse } from '@tillgate/protocol'
import { Pool } from 'undici'
import { noExtras } from '../../packages/gateway/src/actions/rails/rail-actions.ts'
import type { Order } from '../../packages/gateway/src/core/orders/rules/order.ts'
import { maxPerRail } from '../../packages/gateway/src/finance/rails/ask-rails.ts'
import { maxRailAnswerBytes, railTimeoutMs } from '../../packages/gateway/src/finance/rails/rail-client.ts'
import { paymentStart } from '../../packages/gateway/src/finance/rails/rules/rail-message.ts'
import { outboundLimits } from '../../packages/gateway/src/platform/outbound/limits.ts'
import { makeOutbound, systemParts } from '../../packages/gateway/src/platform/outbound/outbound.ts'
import { systemClock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import { makeRandom } from '../../packages/gateway/src/platform/runtime/node-workarounds/random.ts'
import { actingAs } from '../../packages/gateway/test/support/acting.ts'
import { openMoney } from '../../packages/gateway/test/support/money.ts'
import { testOperations } from '../../packages/gateway/test/support/operations.ts'
import { inTurn, median, timed } from '../figures.ts'
import { makeBareRows } from '../rail-rows.ts'
import { atLeast, type Measured, type Scenario, type Size } from '../scenario.ts'
import type { World } from '../world.ts'

const inFlight = maxPerRail

export const rails: Scenario = {
  name: 'payments through a rail',
  yardstick: 'the same HTTP calls, bare',
  async run(world, size) {
    const shop = await openShop(world)
    try {
      return [...(await besideCalls(shop, size)), ...(await besideHangingRail(shop, size))]
    } finally {
      await shop.close()
    }
  },
}

type Shop = Awaited<ReturnType<typeof openShop>>

async function openShop(world: World) {
  const random = makeRandom()
  const secret = makeWebhookSecret(random)
  const bank = await world.startServer('rail.ts', await world.freshDatabase(), { secret })
  const database = world.openPool(await world.freshDatabase())
  const outbound = makeOutbound(
    {
      ...outboundLimits,
      mode: 'sandbox',
      allowedTargets: [],
      attemptTimeoutMs: railTimeoutMs,
      maxAnswerBytes: maxRailAnswerBytes,
      maxReadBytes: 2 * maxRailAnswerBytes,
    },
    systemParts(),
  )
  const { operations } = testOperations(database, { railPost: outbound.post, random })
  const money = openMoney(database, { clock: systemClock })
  const merchant = await money.addMerchant()
  const walletId = await money.addWallet(10n ** 12n)
  const manage = actingAs(operations, 'bench').rails
  const settings = { ...noExtras, name: 'Bank', currencies: ['USD'] }
  await manage.addRail('bank', { ...settings, url: `${bank.url}/rail` }, 'bench', secret)
  await manage.addRail('hangs', { ...settings, url: `${bank.url}/hangs` }, 'bench')
  operations.railDirectory.forget()
  const bareRows = makeBareRows(database, 'bank')
  const pool = new Pool(bank.url, { connections: inFlight })
  const path = { method: 'POST', path: '/rail' } as const

  return {
    orders: (count: number) => Promise.all(Array.from({ length: count }, () => money.addOrder(merchant))),
    /** The consumer chooses the rail, pays there and comes back. */
    async payByRail(order: Order): Promise<void> {
      const begun = await operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
      if (begun.kind !== 'started') throw new Error(begun.kind)
      const { transactionId } = begun.attempt
      const paid = await operations.payByRail.look({ ...order, openAttempt: transactionId })
      if (paid?.status !== 'approved') throw new Error(`the attempt is ${paid?.status}`)
    },
    callBare: (order: Order) => callBare(order, order.paymentId.replace('P', 'T'), async () => {}),
    /** The same two calls, and the rows before and after each of them. */
    async callAndWrite(order: Order): Promise<void> {
      const paid = { ...order, transactionId: order.paymentId.replace('P', 'T') }
      await bareRows.begun(paid)
      await callBare(order, paid.transactionId, (answers) =>
        answers === 1 ? bareRows.started(paid) : bareRows.paid(paid),
      )
    },
    async payByWallet(orders: readonly Order[]): Promise<void> {
      await inLanes(orders, async (order) => void (await money.submitPayment({ ...order, walletId })))
      while ((await money.settle()) > 0);
    },
    hang: async (order: Order) =>
      void (await operations.payByRail.start({ ...order, railId: 'hangs', locale: 'en' })),
    /** As autovacuum does in the first minute of a gateway's life: before it, tables count as empty and are read whole. */
    analyze: () => database.query('vacuum analyze orders, rail_attempts, rail_tasks'),
    async close(): Promise<void> {
      await Promise.all([outbound.close(), pool.close()])
    },
  }

  /** The two calls of a payment, signed both ways. */
  async function callBare(
    order: Order,
    transactionId: string,
    onAnswer: (answers: number) => Promise<void>,
  ): Promise<void> {
    const urls = { returnUrl: 'https://pay.example/return', notifyUrl: 'https://pay.example/notifications' }
    const attempt = { ...order, transactionId, amountMinor: order.paymentAmountMinor, locale: 'en' }
    const start = paymentStart({
      order,
      merchantName: 'Shop',
      ...urls,
      attempt: { ...attempt, startedAtMs: Date.now() } as never,
    })
    for (const [index, message] of [start, { type: 'payment.status', transactionId }].entries()) {
      const body = JSON.stringify(message)
      const context = { secrets: [secret], nowMs: Date.now() }
      const signed = signWebhook({ id: transactionId, body }, context)
      const headers = { 'content-type': 'application/json', ...signed }
      const answer = await pool.request({ ...path, headers, body })
      const bytes = Buffer.from(await answer.body.arrayBuffer())
      const verdict = verifyRailResponse(answer.headers, bytes, { ...context, messageId: transactionId })
      if (verdict !== 'genuine') throw new Error(verdict)
      JSON.parse(bytes.toString())
      await onAnswer(index + 1)
    }
  }
}

async function besideCalls(shop: Shop, size: Size): Promise<Measured[]> {
  const count = size.of(1_000, 300)
  const rateOf = async (pay: (order: Order) => Promise<void>) => {
    const orders = await shop.orders(count)
    return (count * 1_000) / (await timed(() => inLanes(orders, pay)))
  }
  const contenders = {
    ours: () => rateOf(shop.payByRail),
    bare: () => rateOf(shop.callBare),
    rows: () => rateOf(shop.callAndWrite),
  }
  await inTurn(size.of(2, 1), contenders)
  await shop.analyze()
  const rates = await inTurn(size.of(5, 3), contenders)
  const [ours, bare, rows] = [median(rates.ours), median(rates.bare), median(rates.rows)]
  return [
    {
      goal: atLeast(0.6),
      ratio: ours / bare,
      ours: `${ours.toFixed(0)}/s`,
      yardstick: `${bare.toFixed(0)} pairs of calls/s`,
    },
    {
      part: 'beside the same calls and rows, bare',
      ratio: ours / rows,
      ours: `${ours.toFixed(0)}/s`,
      yardstick: `${rows.toFixed(0)}/s`,
      note: `with the rows of a payment the bare calls keep ${(rows / bare).toFixed(2)} of their rate`,
    },
  ]
}

async function besideHangingRail(shop: Shop, size: Size): Promise<Measured[]> {
  const count = size.of(600, 200)
  const ways = {
    'over another rail': async () => {
      const orders = await shop.orders(count)
      return (count * 1_000) / (await timed(() => inLanes(orders, shop.payByRail)))
    },
    'from wallets': async () => {
      const orders = await shop.orders(count)
      return (count * 1_000) / (await timed(() => shop.payByWallet(orders)))
    },
  }
  const measured: Measured[] = []
  for (const [part, rate] of Object.entries(ways)) {
    const rates = await inTurn(size.of(5, 3), {
      alone: rate,
      beside: async () => {
        const waiting = (await shop.orders(2 * inFlight)).map(shop.hang)
        // All places at the rail are taken, and nobody has lost patience yet.
        await pause(200)
        const beside = await rate()
        await Promise.all(waiting)
        return beside
      },
    })
    const [beside, alone] = [median(rates.beside), median(rates.alone)]
    measured.push({
      part: `${part}, while one rail hangs`,
      goal: atLeast(0.9),
      ratio: beside / alone,
      ours: `${beside.toFixed(0)}/s`,
      yardstick: `${alone.toFixed(0)}/s with none hanging`,
    })
  }
  return measured
}

async function inLanes(orders: readonly Order[], work: (order: Order) => Promise<void>): Promise<void> {
  const left = [...orders]
  const lane = async () => {
    for (let order = left.pop(); order; order = left.pop()) await work(order)
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
}
