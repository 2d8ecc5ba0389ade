// Whether it stays fast when much is stored: creates and queries with five million orders in the database, beside the
// same with ten thousand; and pages of the list of all five million, beside one query for as many rows.
import { inTurn, median } from '../figures.ts'
import { load } from '../load.ts'
import { atMost, type Measured, type Scenario, type Size } from '../scenario.ts'
import type { Server, World } from '../world.ts'
import { sealCreates } from './merchant-api.ts'

const connections = 64
const few = 10_000
const page = 100

export const stored: Scenario = {
  name: 'with 5,000,000 orders stored',
  yardstick: 'with 10,000 stored',
  goal: atMost(1.15),
  async run(world, size) {
    const many = size.of(5_000_000, 100_000)
    const full = await fill(world, many)
    const servers = {
      ours: await world.startGateway(full),
      bare: await world.startGateway(await fill(world, few)),
    }
    const count = size.of(700, 400)
    await Promise.all(Object.values(servers).map((server) => warmUp(world, server, count)))
    const createMs = await inTurn(size.of(5, 3), {
      ours: () => creates(world, servers.ours, count),
      bare: () => creates(world, servers.bare, count),
    })
    const queries = await world.sealMany(
      'service.trade.query',
      Array.from({ length: 500 }, (_, index) => ({
        paymentId: paymentIdOf(1 + index * Math.floor(few / 500)),
      })),
    )
    const requests = Array.from({ length: size.of(3_000, 1_000) }, (_, index) => queries[index % 500] ?? '')
    const look = async ({ url }: Server) => 1_000 / (await load(url, { requests, connections })).perSecond
    const queryMs = await inTurn(size.of(5, 3), {
      ours: () => look(servers.ours),
      bare: () => look(servers.bare),
    })
    return [
      { part: 'create', ...compared(createMs, `${many} stored`) },
      { part: 'query', ...compared(queryMs, `${many} stored`) },
      await listPages(world, size, { database: full, many }),
    ]
  },
}

/** One client in turn, so that the figures are what a page costs, and not how many wait for the same core. */
async function listPages(
  world: World,
  size: Size,
  { database, many }: { database: string; many: number },
): Promise<Measured> {
  await world.openPool(database, 1).query('create view bare_orders as select * from orders')
  const servers = {
    ours: await world.startGateway(database),
    bare: await world.startServer('bare.ts', database),
  }
  const count = size.of(400, 200)
  const requests = await world.sealMany(
    'service.order.list',
    Array.from({ length: count }, (_, index) => ({
      cursor: paymentIdOf(page + 1 + Math.floor((index * (many - page)) / count)),
      limit: page,
    })),
  )
  const look = async ({ url }: Server) => {
    const { p50Ms, answers } = await load(url, { requests, connections: 1 })
    const short = answers.find((text) => JSON.parse(text).data.orders.length !== page)
    if (short !== undefined) throw new Error(`not ${page} orders: ${short.slice(0, 200)}`)
    return p50Ms
  }
  for (const server of Object.values(servers)) await look(server)
  const listMs = await inTurn(size.of(5, 3), {
    ours: () => look(servers.ours),
    bare: () => look(servers.bare),
  })
  const note = `${many} stored; the yardstick is the bare program with one query for the same ${page} rows`
  return { part: `list of ${page}`, goal: atMost(2), ...compared(listMs, note) }
}

function compared(times: Record<'ours' | 'bare', number[]>, note: string) {
  const [ours, bare] = [median(times.ours), median(times.bare)]
  return {
    ratio: ours / bare,
    ours: `${ours.toFixed(2)} ms each`,
    yardstick: `${bare.toFixed(2)} ms each`,
    note,
  }
}

/** A first request alone makes this address a known one: of unknown ones, a cold gateway on a busy machine admits few. */
async function warmUp(world: World, server: Server, count: number): Promise<void> {
  await load(server.url, { requests: await sealCreates(world, 1), connections: 1 })
  await creates(world, server, count)
}

async function creates(world: World, { url }: Server, count: number): Promise<number> {
  return 1_000 / (await load(url, { requests: await sealCreates(world, count), connections })).perSecond
}

/** Without checks of references, and with the indexes made afterwards, in order: five million take two minutes. */
async function fill(world: World, count: number): Promise<string> {
  const database = await world.freshDatabase()
  const pool = world.openPool(database, 1)
  await pool.transaction(
    async (transaction) => {
      await transaction.query("set local session_replication_role = 'replica'")
      await transaction.query("set local maintenance_work_mem = '256MB'")
      const { rows } = await transaction.query<{ remove: string; make: string }>(`
select 'alter table orders drop constraint ' || conname as remove,
       'alter table orders add constraint ' || conname || ' ' || pg_get_constraintdef(oid) as make
  from pg_constraint
 where conrelid = 'orders'::regclass and contype = 'u'
 union all
select 'drop index ' || indexrelid::regclass, pg_get_indexdef(indexrelid)
  from pg_index
 where indrelid = 'orders'::regclass and not indisunique`)
      for (const { remove } of rows) await transaction.query(remove)
      await transaction.query(
        `
insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency, payment_time,
                    expires_at, callback_url, content, created_at)
select $1, 'P' || lpad(n::text, 26, '0'), md5(n::text), 'timeout', 'WEB', 1250, 'USD', 1700000000000, 1700001000000,
       'http://shop.example/callbacks', repeat('x', 400), 1700000000000
  from generate_series(1, $2::int) as n`,
        [world.merchantId, count],
      )
      for (const { make } of rows) await transaction.query(make)
    },
    { statementTimeoutMs: 0 },
  )
  await pool.query('vacuum analyze orders')
  // Writing what was filled in is no part of what is measured; PostgreSQL would do it over the next minutes.
  await pool.query('checkpoint')
  return database
}

/** As the insert makes it. */
function paymentIdOf(n: number): string {
  return `P${String(n).padStart(26, '0')}`
}
