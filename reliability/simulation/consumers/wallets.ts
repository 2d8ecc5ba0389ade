// Consumers at their wallet: they top up through the bank and withdraw, with forms that are sent twice and answers that are
// lost.
import { makeUuid } from '@tillgate/protocol'
import { testIban } from '../../../packages/gateway/test/support/payouts.ts'
import { bankRailId } from '../bank.ts'
import { untilAnswered, type World } from '../people.ts'

const hour = 60 * 60_000

export async function useWallet(world: World, name: string): Promise<void> {
  const seeded = world.seeded.stream(name)
  const walletId = seeded.pick(world.wallets)
  await topUp(world, name, walletId)
  await world.sleep(seeded.whole(1_000, 12 * hour))
  await withdraw(world, name, walletId)
}

async function topUp(world: World, name: string, walletId: string): Promise<void> {
  const seeded = world.seeded.stream(`${name} tops up`)
  const amountMinor = BigInt(seeded.whole(100, 3_000))
  const formNumber = Buffer.from(seeded.bytes(10)).toString('hex')
  const wish = { walletId, currency: 'USD', amountMinor, formNumber, description: 'Top-up' }
  const clicks = await Promise.all(
    Array.from({ length: seeded.isLucky(0.3) ? 2 : 1 }, () =>
      untilAnswered({ world, seeded }, () => world.call(({ startTopUp }) => startTopUp.start(wish))),
    ),
  )
  for (const begun of clicks) {
    if (begun.kind !== 'answered' || begun.value.kind !== 'begun') continue
    const [, , merchantId = '', paymentId = ''] = begun.value.path.split('/')
    const orderNo = `top-up-${formNumber}`
    world.journal.created({ merchantId, orderNo, paymentId, amountMinor, status: 'pending' })
    const choice = { merchantId, paymentId, railId: bankRailId, locale: 'en' }
    await untilAnswered({ world, seeded }, () => world.call(({ payByRail }) => payByRail.start(choice)))
  }
}

async function withdraw(world: World, name: string, walletId: string): Promise<void> {
  const seeded = world.seeded.stream(`${name} withdraws`)
  const amountMinor = BigInt(seeded.whole(100, 2_000))
  const formNumber = makeUuid(world.now(), (count) => seeded.bytes(count))
  const shown = await untilAnswered({ world, seeded }, () =>
    world.call(({ wallets }) => wallets.showWallet(walletId)),
  )
  if (shown.kind !== 'answered') return
  const { wallet } = shown.value
  const given = { wallet, currency: 'USD', amountMinor, iban: testIban, formNumber, address: '192.0.2.1' }
  const clicks = await Promise.all(
    Array.from({ length: seeded.isLucky(0.4) ? 2 : 1 }, () =>
      untilAnswered({ world, seeded }, () =>
        world.call(({ withdraw: asked }) => asked.request(given).then(() => true)),
      ),
    ),
  )
  if (clicks.some(({ kind }) => kind === 'answered'))
    world.journal.withdrawals.push({ formNumber, amountMinor })
}
