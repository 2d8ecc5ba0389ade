// Merchants and consumers: each order has a story, told by the seed. They click twice, open two tabs, pay late, change
// their mind, ask again when they got no answer, and write down what they were told.
import { Failure, type OrderStatus } from '@tillgate/protocol'
import type { Merchant } from '../../packages/gateway/src/core/merchants/rules/merchant.ts'
import { bankRailId } from './bank.ts'
import type { Journal, ToldOrder } from './journal.ts'
import type { InstalledKeys } from './keys/installed-keys.ts'
import type { Seeded } from './seeded.ts'
import type { SimulatedGateway } from './simulated-gateway.ts'

export interface World {
  readonly seeded: Seeded
  readonly journal: Journal
  readonly merchants: readonly SimulatedMerchant[]
  readonly wallets: readonly string[]
  readonly keys: InstalledKeys
  now(): number
  sleep(durationMs: number): Promise<void>
  /** Asks one of the gateway's processes; it may die, or not answer in time. */
  call<Result>(ask: (gateway: SimulatedGateway) => Promise<Result>): Promise<Called<Result>>
}

export interface SimulatedMerchant {
  readonly merchant: Merchant
  readonly callbackUrl: string
}

export type Called<Result> =
  | { readonly kind: 'answered'; readonly value: Result }
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** No answer, or one that says nothing: it may have happened or not. */
  | { readonly kind: 'lost' }

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const maxTries = 6

export async function liveOrder(
  world: World,
  name: string,
  merchants: readonly SimulatedMerchant[] = world.merchants,
): Promise<void> {
  const seeded = world.seeded.stream(name)
  const { merchant, callbackUrl } = seeded.pick(merchants)
  const lifeMs = seeded.pick([5 * minute, 20 * minute, hour, 24 * hour])
  const amountMinor = BigInt(seeded.whole(100, 5_000))
  const nowMs = world.now()
  const hasCallback = seeded.isLucky(0.95)
  const isManual = world.seeded.stream(`${name} is shipped`).isLucky(0.25)
  const body = createBody({
    orderNo: name,
    amountMinor,
    nowMs,
    lifeMs,
    callbackUrl: hasCallback ? callbackUrl : undefined,
    isManual,
  })
  const expiresAtMs = nowMs + lifeMs
  const story = { world, seeded, merchant, name, lifeMs, expiresAtMs, amountMinor, isManual, body }
  const created = await Promise.all(Array.from({ length: seeded.isLucky(0.2) ? 2 : 1 }, () => create(story)))
  const order = created.find((each) => each !== undefined)
  if (!order) return
  if (seeded.isLucky(0.1)) await reuseNumber(story)
  await meetFate(story, order)
  if (seeded.isLucky(0.3)) {
    const envelope = { timestamp: String(world.now()), sign: name }
    await untilAnswered(story, () =>
      world.call((gateway) =>
        gateway.resendCallbacks(merchant, JSON.stringify({ paymentId: order.paymentId }), envelope),
      ),
    )
  }
  await query(story, order)
}

interface Story {
  readonly world: World
  readonly seeded: Seeded
  readonly merchant: Merchant
  readonly name: string
  readonly lifeMs: number
  readonly expiresAtMs: number
  readonly amountMinor: bigint
  /** Captured when it is shipped. */
  readonly isManual: boolean
  readonly body: string
}

async function create(story: Story): Promise<ToldOrder | undefined> {
  const { world, merchant, name, amountMinor, body } = story
  const answer = await untilAnswered(story, () =>
    world.call((gateway) => gateway.createOrder(merchant, body)),
  )
  if (answer.kind !== 'answered') return undefined
  const { paymentId } = answer.value
  const { merchantId } = merchant
  world.journal.created({ merchantId, orderNo: name, paymentId, amountMinor, status: 'pending' })
  return world.journal.orders.get(`${merchantId} ${name}`)
}

/** Another order under the same number: it is never taken for the first. */
async function reuseNumber({ world, merchant, name, body }: Story): Promise<void> {
  const other = body.replaceAll('"Green tea"', '"Black tea"')
  const answer = await world.call((gateway) => gateway.createOrder(merchant, other))
  if (answer.kind === 'answered')
    world.journal.contradictions.push(`${name} was used again for other content, and answered as the first`)
}

async function meetFate(story: Story, order: ToldOrder): Promise<void> {
  const { world, seeded, lifeMs } = story
  const fate = seeded.weighted({ pays: 62, pays_late: 12, leaves: 10, cancels: 8, cancels_while_paying: 8 })
  const withinMs = seeded.whole(1_000, lifeMs - 30_000)
  switch (fate) {
    case 'leaves':
      return world.sleep(lifeMs + seeded.whole(0, 10 * minute))
    case 'cancels':
      await world.sleep(withinMs)
      return cancel(story, order)
    case 'cancels_while_paying':
      await world.sleep(withinMs)
      await Promise.all([pay(story, order), cancel(story, order)])
      return
    case 'pays_late':
      await world.sleep(story.expiresAtMs + lateByMs(seeded) - world.now())
      await pay(story, order)
      return
    case 'pays':
      await world.sleep(withinMs)
      await pay(story, order)
      if (story.isManual) await ship(story, order)
      await world.sleep(seeded.whole(1_000, 12 * hour))
      if ((await query(story, order)) === 'success') await refund(story, order)
  }
}

/** Often at the very moment at which one of the processes sees the order expire. */
function lateByMs(seeded: Seeded): number {
  return seeded.isLucky(0.7) ? seeded.pick([-2_000, -1_000, 0]) : seeded.whole(-3_000, 3_000)
}

/** Double clicks, and now and then a second tab with another wallet. */
async function pay(story: Story, order: ToldOrder): Promise<void> {
  const { world, seeded } = story
  const mind = world.seeded.stream(`${story.name} chooses`)
  if (mind.isLucky(0.4) && (await payByBank(story, order, mind)) === 'goes_on') return
  const tabs = Array.from({ length: seeded.isLucky(0.15) ? 2 : 1 }, () => seeded.pick(world.wallets))
  const clicks = tabs.flatMap((walletId) =>
    Array.from({ length: seeded.isLucky(0.25) ? 2 : 1 }, () => walletId),
  )
  await Promise.all(clicks.map((walletId) => click(story, order, walletId)))
}

/** Chooses the bank, by two clicks now and then, comes back to look; some change their mind and pay from a wallet. */
async function payByBank(story: Story, order: ToldOrder, mind: Seeded): Promise<'goes_on' | 'left'> {
  const { world } = story
  const { merchantId, paymentId } = order
  const key = { merchantId, paymentId }
  const choice = { ...key, railId: bankRailId, locale: 'en' }
  await Promise.all(
    Array.from({ length: mind.isLucky(0.25) ? 2 : 1 }, () =>
      untilAnswered(story, () => world.call((gateway) => gateway.payByRail.start(choice))),
    ),
  )
  await world.sleep(mind.whole(0, mind.pick([second, minute, story.lifeMs])))
  if (mind.isLucky(0.3)) {
    await untilAnswered(story, () => world.call((gateway) => gateway.payByRail.leave(key)))
    return 'left'
  }
  return 'goes_on'
}

export async function click(
  story: Pick<Story, 'world' | 'seeded'>,
  order: ToldOrder,
  walletId: string,
): Promise<void> {
  const { world } = story
  const { merchantId, paymentId } = order
  const answer = await untilAnswered(story, () =>
    world.call((gateway) => gateway.submitPayment({ merchantId, paymentId, walletId })),
  )
  if (answer.kind !== 'answered') return
  if (answer.value.kind === 'submitted') world.journal.submitted(order, answer.value.transactionId)
  if (answer.value.kind === 'order_not_payable') world.journal.answered(order, 'pending', answer.value.status)
}

async function cancel(story: Story, order: ToldOrder): Promise<void> {
  const { world, merchant } = story
  const before = order.status
  const answer = await untilAnswered(story, () =>
    world.call((gateway) => gateway.cancelOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))),
  )
  if (answer.kind === 'answered') world.journal.answered(order, before, 'cancelled')
}

async function query(story: Story, order: ToldOrder): Promise<OrderStatus | undefined> {
  const { world, merchant } = story
  const before = order.status
  const answer = await untilAnswered(story, () =>
    world.call((gateway) => gateway.queryOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))),
  )
  if (answer.kind !== 'answered') return undefined
  world.journal.answered(order, before, answer.value.paymentStatus)
  return answer.value.paymentStatus
}

/**
 * Captured in parts, at once, under the same number twice, sometimes for more than was authorized or after the
 * authorization; some release the rest, and some forget the order.
 */
async function ship(story: Story, order: ToldOrder): Promise<void> {
  const { world, merchant, name, amountMinor } = story
  const mind = world.seeded.stream(`${name} ships`)
  await world.sleep(mind.whole(second, mind.pick([minute, 12 * hour, 8 * 24 * hour])))
  if (mind.isLucky(0.15)) return
  const captures = Array.from({ length: mind.whole(1, 3) }, (_, index) => ({
    referCaptureNo: `${name}-capture-${index}`,
    amountMinor: BigInt(mind.whole(1, Number(amountMinor))),
    final: mind.isLucky(0.3),
  }))
  const doubled = captures.flatMap((each) => (mind.isLucky(0.25) ? [each, each] : [each]))
  await Promise.all(doubled.map((each) => captureOnce(story, order, each)))
  if (mind.isLucky(0.7)) return
  const body = JSON.stringify({ paymentId: order.paymentId })
  await untilAnswered(story, () => world.call((gateway) => gateway.releaseOrder(merchant, body)))
}

async function captureOnce(
  story: Story,
  { merchantId, paymentId }: ToldOrder,
  { referCaptureNo, amountMinor, final }: { referCaptureNo: string; amountMinor: bigint; final: boolean },
): Promise<void> {
  const { world, merchant } = story
  const body = JSON.stringify({ paymentId, referCaptureNo, amount: decimal(amountMinor), final })
  const answer = await untilAnswered(story, () =>
    world.call((gateway) => gateway.captureOrder(merchant, body)),
  )
  if (answer.kind !== 'answered') return
  const { transactionId, captureStatus } = answer.value
  if (captureStatus !== 'captured') return
  world.journal.captured({ merchantId, paymentId, referCaptureNo, transactionId, amountMinor })
}

/** In parts, at once, under the same number twice, and sometimes for more than was paid. */
async function refund(story: Story, order: ToldOrder): Promise<void> {
  const { seeded, amountMinor } = story
  if (seeded.isLucky(0.45)) return
  const parts = seeded.whole(1, 3)
  const refunds = Array.from({ length: parts }, (_, index) => ({
    referRefundNo: `${story.name}-refund-${index}`,
    amountMinor: seeded.isLucky(0.5) ? amountMinor : BigInt(seeded.whole(1, Number(amountMinor))),
  }))
  const doubled = refunds.flatMap((each) => (seeded.isLucky(0.25) ? [each, each] : [each]))
  await Promise.all(doubled.map((each) => refundOnce(story, order, each)))
}

async function refundOnce(
  story: Story,
  order: ToldOrder,
  { referRefundNo, amountMinor }: { referRefundNo: string; amountMinor: bigint },
): Promise<void> {
  const { world, merchant } = story
  const { paymentId } = order
  const body = JSON.stringify({ paymentId, referRefundNo, refundAmount: decimal(amountMinor) })
  const answer = await untilAnswered(story, () =>
    world.call((gateway) => gateway.refundOrder(merchant, body)),
  )
  if (answer.kind !== 'answered') return
  const { refundId } = answer.value
  world.journal.refunded({ merchantId: merchant.merchantId, paymentId, referRefundNo, refundId, amountMinor })
}

/** An operator funds a merchant, and sends the same act again and again until there is an answer. */
export async function fund(world: World, idempotencyKey: string): Promise<void> {
  const seeded = world.seeded.stream(idempotencyKey)
  const { merchant } = seeded.pick(world.merchants)
  const correction = {
    kind: 'fund',
    merchantId: merchant.merchantId,
    currency: 'USD',
    amountMinor: BigInt(seeded.whole(100, 3_000)),
    outside: { bankName: 'main' },
  } as const
  const answer = await untilAnswered({ world, seeded }, () =>
    world.call((gateway) => gateway.corrections.correct(correction, 'simulation', { idempotencyKey })),
  )
  if (answer.kind === 'answered')
    world.journal.corrections.push({ idempotencyKey, amountMinor: correction.amountMinor })
}

export async function untilAnswered<Result>(
  { world, seeded }: Pick<Story, 'world' | 'seeded'>,
  ask: () => Promise<Called<Result>>,
): Promise<Called<Result>> {
  for (let tries = 1; ; tries++) {
    const called = await ask()
    if (called.kind !== 'lost' || tries === maxTries) return called
    await world.sleep(seeded.whole(500, 1_000 * 2 ** tries))
  }
}

export function isAnswer(error: unknown): error is Failure {
  return error instanceof Failure && error.failure !== 'unavailable'
}

function createBody(given: {
  orderNo: string
  amountMinor: bigint
  nowMs: number
  lifeMs: number
  callbackUrl: string | undefined
  isManual: boolean
}): string {
  const amount = decimal(given.amountMinor)
  return JSON.stringify({
    order: {
      orderNo: given.orderNo,
      orderAmount: amount,
      goods: [{ referenceGoodsId: 'tea', goodsName: 'Green tea', goodsAmount: amount }],
    },
    channel: 'WEB',
    paymentAmount: amount,
    currency: 'USD',
    paymentTime: given.nowMs,
    paymentExpiryTime: given.nowMs + given.lifeMs,
    callbackUrl: given.callbackUrl,
    ...(given.isManual && { captureMode: 'manual' }),
  })
}

export function decimal(minor: bigint): string {
  return `${minor / 100n}.${(minor % 100n).toString().padStart(2, '0')}`
}
