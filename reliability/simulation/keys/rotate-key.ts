// Merchants replace their AES keys: the new key is added, installed hours later, used, and the old one is revoked and at
// last removed. In between they choose the key by hand, go back to the old one, or try to revoke it too early.
import type { ShownKey } from '../../../packages/gateway/src/core/merchants/manage-merchants.ts'
import { type Called, liveOrder, type SimulatedMerchant, untilAnswered, type World } from '../people.ts'
import type { Seeded } from '../seeded.ts'
import type { SimulatedGateway } from '../simulated-gateway.ts'

const minute = 60_000
const hour = 60 * minute
/** Longer than a process stands still, and than a callback takes that was sealed before. */
const removedAfterMs = 24 * hour

export async function rotateKey(world: World, name: string, shop: SimulatedMerchant): Promise<void> {
  const { merchantId } = shop.merchant
  const seeded = world.seeded.stream(name)
  const rotation = { world, seeded, merchantId, old: world.keys.of(merchantId).sends }
  const added = await addKey(rotation)
  const both = [rotation.old, added]
  // Callbacks come while the merchant does not have the key yet.
  await Promise.all([
    world.sleep(seeded.whole(minute, 36 * hour)),
    ...[1, 2].map((order) => liveOrder(world, `${name}, order ${order}`, [shop])),
  ])
  if (seeded.isLucky(0.3)) await revokeTooEarly(rotation)
  if (seeded.isLucky(0.4)) {
    world.keys.install(merchantId, { sends: rotation.old, opens: both })
    await ask(rotation, ({ merchants }) =>
      merchants.useForCallbacks({ merchantId, keyId: added, reason: 'simulation' }),
    )
    await world.sleep(seeded.whole(minute, 12 * hour))
  }
  const senders = seeded.isLucky(0.3) ? [added, rotation.old, added] : [added]
  for (const sends of senders) {
    world.keys.install(merchantId, { sends, opens: both })
    await sendSome(rotation)
  }
  await revoke(rotation)
  await world.sleep(removedAfterMs)
  world.keys.install(merchantId, { sends: added, opens: [added] })
}

interface Rotation {
  readonly world: World
  readonly seeded: Seeded
  readonly merchantId: string
  readonly old: string
}

/** However often the answer is lost, there is one new key. */
async function addKey(rotation: Rotation): Promise<string> {
  for (;;) {
    const added = (await liveKeys(rotation)).find(({ keyId }) => keyId !== rotation.old)
    if (added) return added.keyId
    await ask(rotation, ({ merchants }) => merchants.addKey(rotation.merchantId, { kind: 'aes' }))
  }
}

async function revokeTooEarly(rotation: Rotation): Promise<void> {
  await tryRevoking(rotation)
  if (!(await isLive(rotation)))
    rotation.world.keys.violations.push('the key that seals callbacks was revoked without a confirmation')
}

async function sendSome({ world, seeded, merchantId }: Rotation): Promise<void> {
  for (let left = seeded.whole(1, 4); left > 0; left--) {
    await world.call((gateway) => gateway.openRequest(merchantId))
    await world.sleep(seeded.whole(1_000, 2 * hour))
  }
}

/** As soon as that breaks nothing. */
async function revoke(rotation: Rotation): Promise<void> {
  while (await isLive(rotation)) {
    await sendSome(rotation)
    await tryRevoking(rotation)
  }
}

function tryRevoking(rotation: Rotation): Promise<Called<void>> {
  const { merchantId, old: keyId } = rotation
  return ask(rotation, ({ merchants }) => merchants.revokeKey({ merchantId, keyId, reason: 'simulation' }))
}

async function isLive(rotation: Rotation): Promise<boolean> {
  return (await liveKeys(rotation)).some(({ keyId }) => keyId === rotation.old)
}

async function liveKeys(rotation: Rotation): Promise<readonly ShownKey[]> {
  for (;;) {
    const answer = await ask(rotation, ({ merchants }) => merchants.showMerchant(rotation.merchantId))
    if (answer.kind === 'answered')
      return answer.value.keys.filter(({ kind, revokedAtMs }) => kind === 'aes' && revokedAtMs === undefined)
  }
}

function ask<Result>(
  { world, seeded }: Rotation,
  question: (gateway: SimulatedGateway) => Promise<Result>,
): Promise<Called<Result>> {
  return untilAnswered({ world, seeded }, () => world.call(question))
}
