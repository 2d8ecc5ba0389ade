// `npm run bench -- --layers`: what each layer of a create costs on the event loop, beside its budget. The unit is a
// hundredth of what the bare program spends in the same run, because microseconds depend on the machine.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { median } from '../figures.ts'
import { load } from '../load.ts'
import { sealCreates } from '../scenarios/merchant-api.ts'
import type { Server, World } from '../world.ts'
import { allowance, budgets, isOver, type Layer, type Profile, timesOf } from './layers.ts'

const connections = 64
const rounds = 9
const perRound = 1_500

type Measured = Server & { readonly child: ChildProcess }

/** False if a layer is over its budget. */
export async function measureLayers(world: World): Promise<boolean> {
  process.env['SERVER_NODE_OPTIONS'] = `--import=${join(import.meta.dirname, '../servers/profiled.ts')}`
  const database = await world.freshDatabase()
  await world.openPool(database, 1).query('create table bare_orders (like orders including all)')
  const ours = await world.startGateway(database)
  const bare = await world.startServer('bare.ts', database)
  const warm = await sealCreates(world, 7_000)
  for (const { url } of [bare, ours]) await load(url, { requests: warm, connections })
  const all: Record<Layer, number[]> = mapLayers(() => [])
  const micros: Record<'ours' | 'bare', number[]> = { ours: [], bare: [] }
  for (let round = 0; round < rounds; round++) {
    const requests = await sealCreates(world, perRound)
    const ofBare = total(await profiled(bare, requests))
    const times = await profiled(ours, requests)
    micros.bare.push(ofBare / perRound)
    micros.ours.push(total(times) / perRound)
    for (const layer of layers) all[layer].push((times.get(layer) ?? 0) / perRound)
  }
  const costs = mapLayers((layer) => (median(all[layer]) / median(micros.bare)) * 100)
  for (const layer of layers) {
    const mark = isOver(layer, costs[layer]) ? '✘' : '✔'
    console.log(`${mark} ${layer.padEnd(30)} ${costs[layer].toFixed(1).padStart(6)} of ${budgets[layer]}`)
  }
  const [a, b] = [median(micros.ours), median(micros.bare)]
  console.log(
    `  a create: ${a.toFixed(0)} µs of the event loop; 100 is the bare program's ${b.toFixed(0)} µs`,
  )
  console.log(`  a layer fails at ${allowance} times its budget`)
  return layers.every((layer) => !isOver(layer, costs[layer]))
}

const layers = Object.keys(budgets) as Layer[]

function mapLayers<Value>(of: (layer: Layer) => Value): Record<Layer, Value> {
  return Object.fromEntries(layers.map((layer) => [layer, of(layer)])) as Record<Layer, Value>
}

async function profiled({ child, url }: Measured, requests: readonly string[]) {
  child.send('profile')
  await once(child, 'message')
  await load(url, { requests, connections })
  child.send('profiled')
  const [profile] = (await once(child, 'message')) as [Profile]
  return timesOf(profile)
}

/** Without idle time. */
function total(times: ReadonlyMap<Layer | undefined, number>): number {
  return [...times].reduce((sum, [layer, time]) => sum + (layer === undefined ? 0 : time), 0)
}
