// Consumers who show a code in a store: two tills may scan it, requests are sent again without an answer, some come
// too late, and some orders wait until their owner confirms them. Then the shop takes some back.
import type { Journal, ToldOrder } from '../journal.ts'
import { click, decimal, type SimulatedMerchant, untilAnswered, type World } from '../people.ts'
import type { Seeded } from '../seeded.ts'

const second = 1_000
export async function payInStore(world: World, name: string): Promise<void> {
  const seeded = world.seeded.stream(name)
  const walletId = seeded.pick(world.wallets)
  const code = await showCode(world, seeded, walletId)
  if (code === undefined) return
  const shownAtMs = world.now()
  await world.sleep(seeded.pick([second, 20 * second, 59 * second, 61 * second, 300 * second]))
  const tills = Array.from({ length: seeded.isLucky(0.4) ? 2 : 1 }, (_, till) => ({
    ...seeded.pick(world.merchants),
    orderNo: `${name}-till-${till}`,
    amountMinor: BigInt(seeded.pick([seeded.whole(100, 2_000), 6_000])),
  }))
  const doubled = tills.flatMap((till) => (seeded.isLucky(0.3) ? [till, till] : [till]))
  // One after the other: who is first at a row is for PostgreSQL to say, and two runs would differ.
  for (const till of doubled) await scan({ world, seeded, shownAtMs, code }, till)
  for (const till of tills) await goOn({ world, seeded }, till, walletId)
}

interface Shown {
  readonly world: World
  readonly seeded: Seeded
  readonly shownAtMs: number
  readonly code: string
}

interface Till extends SimulatedMerchant {
  readonly orderNo: string
  readonly amountMinor: bigint
}

async function showCode(world: World, seeded: Seeded, walletId: string): Promise<string | undefined> {
  const place = { address: '192.0.2.7', userAgent: 'phone' }
  const shown = await untilAnswered({ world, seeded }, () =>
    world.call(async ({ wallets, walletSessions, showPayCode }) => {
      const { wallet } = await wallets.showWallet(walletId)
      const token = await walletSessions.open(wallet, place)
      const session = token === undefined ? undefined : await walletSessions.find(token)
      const code = session && (await showPayCode(session))
      return code?.[seeded.isLucky(0.5) ? 'token' : 'digits']
    }),
  )
  return shown.kind === 'answered' ? shown.value : undefined
}

async function scan({ world, seeded, shownAtMs, code }: Shown, till: Till): Promise<void> {
  const { merchant, callbackUrl, orderNo, amountMinor } = till
  const body = JSON.stringify({ code, orderNo, amount: decimal(amountMinor), currency: 'USD', callbackUrl })
  const answer = await untilAnswered({ world, seeded }, () =>
    world.call(({ scanOrder }) => scanOrder(merchant, body)),
  )
  if (answer.kind !== 'answered') return
  const { paymentId, status } = answer.value
  const { merchantId } = merchant
  world.journal.created({ merchantId, orderNo, paymentId, amountMinor, status: 'pending' })
  const order = orderOf(world.journal, till)
  if (order && status !== 'pending') world.journal.answered(order, 'pending', status)
  world.journal.scanned({ code, paymentId, shownAtMs })
}

/** The owner confirms what waits, or does not; the shop cancels or refunds some. */
async function goOn({ world, seeded }: Pick<Shown, 'world' | 'seeded'>, till: Till, walletId: string) {
  const order = orderOf(world.journal, till)
  if (!order) return
  const { paymentId } = order
  if (order.status === 'pending' && seeded.isLucky(0.6)) await click({ world, seeded }, order, walletId)
  if (seeded.isLucky(0.5)) return
  await world.sleep(seeded.whole(second, 600 * second))
  await untilAnswered({ world, seeded }, () =>
    world.call(({ cancelOrder }) => cancelOrder(till.merchant, JSON.stringify({ paymentId }))),
  )
  const refund = { paymentId, referRefundNo: `${till.orderNo}-back`, refundAmount: decimal(till.amountMinor) }
  await untilAnswered({ world, seeded }, () =>
    world.call(({ refundOrder }) => refundOrder(till.merchant, JSON.stringify(refund))),
  )
}

function orderOf({ orders }: Journal, { merchant, orderNo }: Till): ToldOrder | undefined {
  return orders.get(`${merchant.merchantId} ${orderNo}`)
}
