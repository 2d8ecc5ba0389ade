// Whether anything grows: orders created, paid and queried for some minutes, and the memory of the gateway meanwhile.
// `npm run bench -- --soak 10`
import { createBody } from './bodies.ts'
import { load } from './load.ts'
import { residentBytes, type World } from './world.ts'

export async function soak(world: World, minutes: number): Promise<void> {
  const { url, pid } = await world.startGateway(await world.freshDatabase())
  const until = performance.now() + minutes * 60_000
  let orders = 0
  for (let nextTold = 0; performance.now() < until; ) {
    const bodies = Array.from({ length: 500 }, () => createBody({ callbackUrl: undefined }))
    const { answers } = await load(url, {
      requests: await world.sealMany('service.trade.create', bodies),
      connections: 64,
    })
    const ids = answers.map((text): string => JSON.parse(text).data.paymentId)
    const pays = ids.map((paymentId) => ({ paymentId, outcome: 'success' }))
    await load(url, { requests: await world.sealMany('service.sandbox.pay', pays), connections: 64 })
    const queries = ids.map((paymentId) => ({ paymentId }))
    await load(url, { requests: await world.sealMany('service.trade.query', queries), connections: 64 })
    orders += ids.length
    if (performance.now() < nextTold) continue
    nextTold = performance.now() + 30_000
    const megabytes = residentBytes(pid) / 1024 / 1024
    console.log(`${orders} orders paid, ${megabytes.toFixed(0)} MB resident`)
  }
}
