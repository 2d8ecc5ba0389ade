// Creates a second of a gateway as two processes beside one, each started as `npm start` does it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inTurn, median } from '../figures.ts'
import { load } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { cpuOf, freePort, type Server, type World } from '../world.ts'
import { sealCreates } from './merchant-api.ts'

const connections = 64
type Name = 'ours' | 'bare'

export const processes: Scenario = {
  name: 'create, as two processes',
  yardstick: 'as one',
  async run(world, size) {
    const programs = { ours: await startProgram(world, 2), bare: await startProgram(world, 1) }
    const cpu: Record<Name, number[]> = { ours: [], bare: [] }
    const generator: number[] = []
    const take = (name: Name) => async () => {
      const requests = await sealCreates(world, size.of(2_500, 800))
      const { url, pid } = programs[name]
      const before = cpuOfAll(pid)
      const { perSecond, ownCpu } = await load(url, { requests, connections })
      cpu[name].push((cpuOfAll(pid) - before) / requests.length)
      generator.push(ownCpu * 100)
      return perSecond
    }
    for (const name of ['ours', 'bare', 'ours', 'bare'] as const) await take(name)()
    const rates = await inTurn(size.of(5, 3), { ours: take('ours'), bare: take('bare') })
    for (const { stop } of Object.values(programs)) await stop()
    const [ours, bare] = [median(rates.ours), median(rates.bare)]
    return [
      {
        ratio: ours / bare,
        ours: `${ours.toFixed(0)}/s`,
        yardstick: `${bare.toFixed(0)}/s`,
        note:
          `CPU a request: ${median(cpu.ours).toFixed(0)} µs beside ${median(cpu.bare).toFixed(0)}, PostgreSQL apart; ` +
          `generator ${median(generator).toFixed(0)} % of a core`,
      },
    ]
  },
}

async function startProgram(world: World, count: number): Promise<Server> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../packages/gateway/start.js')], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      ...world.environmentOf(await world.freshDatabase()),
      PORT: String(port),
      SHOP_PORT: '0',
      RAIL_PORT: '0',
      PROCESSES: String(count),
    },
  })
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`)
    await pause(50)
  }
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Of the process and its children. */
function cpuOfAll(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [String(pid), ...children].map(cpuOf).reduce((total, micros) => total + micros, 0)
}
