// Five times more than it can do, for half a minute, from a sender that does not wait: the work that is done must stay
// near the peak, whoever is refused must learn it at once, and memory must not grow.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { FloodOrder, FloodResult } from '../flood.ts'
import { load } from '../load.ts'
import { atLeast, atMost, type Scenario } from '../scenario.ts'
import { residentBytes } from '../world.ts'
import { sealCreates } from './merchant-api.ts'

const times = 5
const connections = 1_500

export const overload: Scenario = {
  name: 'overload at 5 times the peak',
  yardstick: 'the peak at 64 connections',
  goal: atLeast(0.8),
  async run(world, size) {
    const database = await world.freshDatabase()
    const { url, pid, stop } = await world.startGateway(database)
    const { answers } = await load(url, { requests: await sealCreates(world, 300), connections: 64 })
    const bodies = await world.sealMany(
      'service.trade.query',
      answers.map((text) => ({ paymentId: JSON.parse(text).data.paymentId })),
    )
    const requests = Array.from({ length: size.of(8_000, 3_000) }, (_, index) => bodies[index % 300] ?? '')
    await load(url, { requests, connections: 64 })
    const { perSecond: peak } = await load(url, { requests, connections: 64 })
    const before = residentBytes(pid)
    const flood = (to: string, durationMs: number) =>
      startFlood({
        port: Number(new URL(to).port),
        perSecond: peak * times,
        durationMs,
        connections,
        bodies,
      })
    const result = await flood(url, size.of(30_000, 5_000))
    const grown = (residentBytes(pid) - before) / 1024 / 1024
    const goodput = (result.good * 1_000) / result.tookMs
    await stop()
    // The least that anybody could do with such a flood: refuse all of it, without a look.
    const refuser = await world.startServer('page.ts', database, { page: '{}', httpStatus: 503 })
    const refused = await flood(refuser.url, size.of(10_000, 3_000))
    return [
      {
        part: 'goodput',
        ratio: goodput / peak,
        ours: `${goodput.toFixed(0)}/s`,
        yardstick: `${peak.toFixed(0)}/s`,
        note:
          `${((result.sent * 1_000) / result.tookMs).toFixed(0)}/s were sent, ${result.refused} refused, ${result.held} found every one of ` +
          `${connections} connections busy, ${result.other} broken; memory ${grown >= 0 ? '+' : ''}${grown.toFixed(0)} MB; ` +
          `generator ${((100 * result.cpuMs) / result.tookMs).toFixed(0)} % of a core`,
      },
      {
        part: 'p99 of a refusal, beside bare node:http that refuses everything',
        goal: atMost(1.1),
        ratio: result.refusedP99Ms / refused.refusedP99Ms,
        ours: `${result.refusedP99Ms.toFixed(0)} ms`,
        yardstick: `${refused.refusedP99Ms.toFixed(0)} ms`,
        note: `the yardstick refused ${((refused.refused * 1_000) / refused.tookMs).toFixed(0)} a second`,
      },
    ]
  },
}

async function startFlood(order: FloodOrder): Promise<FloodResult> {
  const child = fork(join(import.meta.dirname, '../flood.ts'))
  child.send(order)
  const [result] = await once(child, 'message')
  return result as FloodResult
}
