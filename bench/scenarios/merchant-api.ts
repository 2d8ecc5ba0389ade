// Creates and queries a second over 64 connections, and the latency of one create alone, beside the bare program and
// beside a straightforward service.
import { createBody } from '../bodies.ts'
import { inTurn, median } from '../figures.ts'
import { type LoadResult, load } from '../load.ts'
import { atLeast, atMost, type Measured, type Scenario } from '../scenario.ts'
import { cpuOf, type Server, type World } from '../world.ts'

const connections = 64

export const create: Scenario = {
  name: 'create, 64 connections',
  yardstick: 'bare node:http, open the envelope, batched insert',
  goal: atLeast(0.85),
  async run(world, size) {
    const servers = await startServers(world)
    const prepare = (count: number) => sealCreates(world, count)
    await warmUp(servers, await prepare(size.of(7_000, 1_000)))
    return [
      await compare(world, servers, { rounds: size.of(5, 3), prepare: () => prepare(size.of(2_500, 1_000)) }),
    ]
  },
}

export const query: Scenario = {
  name: 'query, 64 connections',
  yardstick: 'bare node:http, open the envelope, batched read by key',
  goal: atLeast(0.88),
  async run(world, size) {
    const servers = await startServers(world)
    const stored = await sealCreates(world, 500)
    const queries: Record<string, string[]> = {}
    for (const [name, { url }] of Object.entries(servers)) {
      const { answers } = await load(url, { requests: stored, connections })
      const ids = answers.map((text): string => JSON.parse(text).data.paymentId)
      queries[name] = await world.sealMany(
        'service.trade.query',
        ids.map((paymentId) => ({ paymentId })),
      )
    }
    const count = size.of(4_000, 1_500)
    const requests = (name: string) =>
      Array.from({ length: count }, (_, index) => queries[name]?.[index % 500] ?? '')
    for (const [name, { url }] of Object.entries(servers))
      await load(url, { requests: requests(name), connections })
    const notes = new Notes(world)
    const rates = await inTurn(size.of(5, 3), {
      ours: async () => notes.take('ours', servers.ours, requests('ours')),
      bare: async () => notes.take('bare', servers.bare, requests('bare')),
    })
    return [notes.measured(rates)]
  },
}

export const single: Scenario = {
  name: 'create, one connection, p50',
  yardstick: 'the bare program',
  goal: atMost(1.3),
  async run(world, size) {
    const servers = await startServers(world)
    await warmUp(servers, await sealCreates(world, size.of(2_000, 1_000)))
    const count = size.of(300, 150)
    const p50s = async ({ url }: Server) =>
      (await load(url, { requests: await sealCreates(world, count), connections: 1 })).p50Ms
    const times = await inTurn(size.of(5, 3), {
      ours: () => p50s(servers.ours),
      bare: () => p50s(servers.bare),
    })
    const [ours, bare] = [median(times.ours), median(times.bare)]
    return [{ ratio: ours / bare, ours: `${ours.toFixed(2)} ms`, yardstick: `${bare.toFixed(2)} ms` }]
  },
}

export const straightforward: Scenario = {
  name: 'create against Express and pg',
  yardstick: 'the same checks, one transaction a request',
  goal: atLeast(2),
  async run(world, size) {
    const [ours, plain] = await Promise.all([world.freshDatabase(), world.freshDatabase()])
    const servers = {
      ours: await world.startGateway(ours),
      bare: await world.startServer('express.ts', plain),
    }
    const prepare = (count: number) => sealCreates(world, count)
    await warmUp(servers, await prepare(size.of(2_000, 1_000)))
    return [
      await compare(world, servers, { rounds: size.of(3, 3), prepare: () => prepare(size.of(1_500, 800)) }),
    ]
  },
}

export function sealCreates(world: World, count: number): Promise<string[]> {
  return world.sealMany(
    'service.trade.create',
    Array.from({ length: count }, () => createBody()),
  )
}

interface Servers {
  readonly ours: Server
  readonly bare: Server
}

/** Into the same database, as the goal is put; the bare program has a table of its own with the same indexes. */
async function startServers(world: World): Promise<Servers> {
  const database = await world.freshDatabase()
  const pool = world.openPool(database, 1)
  await pool.query('create table bare_orders (like orders including all)')
  return {
    ours: await world.startGateway(database),
    bare: await world.startServer('bare.ts', database),
  }
}

async function warmUp(servers: Servers, requests: readonly string[]): Promise<void> {
  for (const { url } of [servers.bare, servers.ours]) await load(url, { requests, connections })
}

async function compare(
  world: World,
  servers: Servers,
  { rounds, prepare }: { rounds: number; prepare: () => Promise<string[]> },
): Promise<Measured> {
  const notes = new Notes(world)
  let requests: string[] = []
  let preparedFor = -1
  const take = (name: 'ours' | 'bare') => async (round: number) => {
    if (preparedFor !== round) requests = await prepare()
    preparedFor = round
    return notes.take(name, servers[name], requests)
  }
  return notes.measured(await inTurn(rounds, { ours: take('ours'), bare: take('bare') }))
}

/** What a round cost besides time: CPU of the server, of PostgreSQL and of the generator. */
class Notes {
  readonly #world: World
  readonly #cpu: Record<'ours' | 'bare', { server: number; postgres: number; generator: number }[]> = {
    ours: [],
    bare: [],
  }

  constructor(world: World) {
    this.#world = world
  }

  async take(name: 'ours' | 'bare', server: Server, requests: readonly string[]): Promise<number> {
    const before = { server: cpuOf(server.pid), postgres: this.#world.postgresCpu() }
    const result: LoadResult = await load(server.url, { requests, connections })
    this.#cpu[name].push({
      server: (cpuOf(server.pid) - before.server) / requests.length,
      postgres: (this.#world.postgresCpu() - before.postgres) / requests.length,
      generator: result.ownCpu,
    })
    return result.perSecond
  }

  measured(rates: Record<'ours' | 'bare', number[]>): Measured {
    const [ours, bare] = [median(rates.ours), median(rates.bare)]
    const cpu = (name: 'ours' | 'bare', part: 'server' | 'postgres') =>
      median(this.#cpu[name].map((round) => round[part])).toFixed(0)
    const generator = median(this.#cpu.ours.map((round) => round.generator)) * 100
    return {
      ratio: ours / bare,
      ours: `${ours.toFixed(0)}/s`,
      yardstick: `${bare.toFixed(0)}/s`,
      note:
        `CPU a request: ${cpu('ours', 'server')} µs + PostgreSQL ${cpu('ours', 'postgres')} µs, ` +
        `yardstick ${cpu('bare', 'server')} + ${cpu('bare', 'postgres')}; generator ${generator.toFixed(0)} % of a core`,
    }
  }
}
