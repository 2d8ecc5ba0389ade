// People at a payment link for one payment: several press its button at once, and each pays from a wallet of their own.
import { click, decimal, untilAnswered, type World } from '../people.ts'

const minute = 60_000

export async function payAtLink(world: World, name: string): Promise<void> {
  const seeded = world.seeded.stream(name)
  const { merchant, callbackUrl } = seeded.pick(world.merchants)
  const amountMinor = BigInt(seeded.whole(100, 3_000))
  const body = JSON.stringify({
    linkNo: name,
    title: 'Green tea',
    currency: 'USD',
    amount: decimal(amountMinor),
    uses: 'once',
    paymentMinutes: 5,
    callbackUrl,
  })
  const made = await untilAnswered({ world, seeded }, () =>
    world.call((gateway) => gateway.createLink(merchant, body)),
  )
  if (made.kind !== 'answered') return
  const { linkId } = made.value
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: seeded.whole(2, 4) }, (_, index) => press(`${name} ${round} ${index}`)),
    )
    await world.sleep(seeded.whole(1_000, 8 * minute))
  }

  async function press(who: string): Promise<void> {
    const own = { world, seeded: world.seeded.stream(who) }
    const formNumber = Buffer.from(own.seeded.bytes(10)).toString('hex')
    const begun = await untilAnswered(own, () =>
      world.call(async ({ openLink }) => {
        const opened = await openLink.find(linkId)
        return opened && openLink.begin(opened, { amountMinor, formNumber })
      }),
    )
    if (begun.kind !== 'answered' || begun.value?.kind !== 'begun') return
    const paymentId = begun.value.path.split('/')[3] ?? ''
    const asked = JSON.stringify({ paymentId })
    const found = await untilAnswered(own, () => world.call((gateway) => gateway.queryOrder(merchant, asked)))
    if (found.kind !== 'answered') return
    const { merchantId } = merchant
    const { orderNo } = found.value
    world.journal.created({ merchantId, orderNo, paymentId, amountMinor, status: 'pending' })
    const order = world.journal.orders.get(`${merchantId} ${orderNo}`)
    if (order) await click(own, order, own.seeded.pick(world.wallets))
  }
}
