// Creates a second of a gateway as two processes beside one, each started as `npm start` does it.
import { readFileSync } from 'node:fs'
import { inTurn, median } from '../figures.ts'
import { load } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { cpuOf } from '../world.ts'
import { sealCreates } from './merchant-api.ts'

const connections = 64
type Name = 'ours' | 'bare'

export const processes: Scenario = {
  name: 'create, as two processes',
  yardstick: 'as one',
  async run(world, size) {
    const programs = {
      ours: await world.startProgram(await world.freshDatabase(), { PROCESSES: '2' }),
      bare: await world.startProgram(await world.freshDatabase()),
    }
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

/** Of the process and its children. */
function cpuOfAll(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [String(pid), ...children].map(cpuOf).reduce((total, micros) => total + micros, 0)
}
