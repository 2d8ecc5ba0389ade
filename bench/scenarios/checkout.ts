// Views of the checkout page a second, each made from the stored order, beside node:http that sends the same bytes.
import { inTurn, median } from '../figures.ts'
import { load, type Page } from '../load.ts'
import { atLeast, type Scenario } from '../scenario.ts'
import { cpuOf } from '../world.ts'
import { sealCreates } from './merchant-api.ts'

const connections = 64
/** Fewer than the limits of one link and of one address allow at once. */
const viewsALink = 80
/** Whoever looks more often than people do has to wait for the others. */
const viewsAnAddress = 8
/** Until then the compiler is at work, on the larger program for longer. */
const warmRounds = 3

export const checkout: Scenario = {
  name: 'checkout page',
  yardstick: 'bare node:http that sends the same bytes',
  goal: atLeast(0.6),
  async run(world, size) {
    const database = await world.freshDatabase()
    const gateway = await world.startGateway(database, { TRUSTED_PROXIES: '127.0.0.1' })
    const perRound = size.of(2_500, 800)
    const rounds = size.of(5, 3)
    const total = perRound * (rounds + warmRounds)
    const orders = await sealCreates(world, Math.ceil(total / viewsALink))
    const { answers } = await load(gateway.url, { requests: orders, connections: 8 })
    const paths = answers.map((text) => new URL(JSON.parse(text).data.checkoutUrl).pathname)
    const views = Array.from({ length: total }, (_, index): Page => {
      const address = Math.floor(index / viewsAnAddress)
      return {
        path: paths[Math.floor(index / viewsALink)] ?? '',
        headers: { 'x-forwarded-for': `10.0.${address >> 8}.${address & 255}` },
      }
    })
    const viewsOf = (round: number) => views.slice(round * perRound, (round + 1) * perRound)
    const warm = views.slice(rounds * perRound)
    const first = await load(gateway.url, { requests: warm, connections })
    const page = first.answers[0] ?? ''
    const bare = await world.startServer('page.ts', database, { page })
    await load(bare.url, { requests: warm, connections })
    const cpu: number[] = []
    const rates = await inTurn(rounds, {
      ours: async (round) => {
        const before = cpuOf(gateway.pid)
        const { perSecond } = await load(gateway.url, { requests: viewsOf(round), connections })
        cpu.push((cpuOf(gateway.pid) - before) / perRound)
        return perSecond
      },
      bare: async (round) => (await load(bare.url, { requests: viewsOf(round), connections })).perSecond,
    })
    const [ours, plain] = [median(rates.ours), median(rates.bare)]
    return [
      {
        ratio: ours / plain,
        ours: `${ours.toFixed(0)}/s`,
        yardstick: `${plain.toFixed(0)}/s`,
        note: `${Buffer.byteLength(page)} bytes, ${median(cpu).toFixed(0)} µs of CPU a view`,
      },
    ]
  },
}
