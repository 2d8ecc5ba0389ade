// The pool against a real server: results, rollbacks and failures.
import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { bytesKept } from '../../../../protocol/test/kept.ts'
import { freshDatabase } from '../../../test/support/database.ts'
import { urlOf } from '../../../test/support/server.ts'
import { type ConnectionOptions, describeConnection } from './connection.ts'
import { openPool, type Pool } from './pool.ts'
import { CommitUnknown, isTransient, PoolBusy } from './transient.ts'

const { pool, connection } = await freshDatabase()
await pool.query('create table things (id integer primary key, note text)')

async function backend(client: Pick<Pool, 'query'>): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid ?? 0
}

test('big integers are returned as text, exactly', async () => {
  const { rows } = await pool.query('select $1::bigint as big, $2::numeric as exact', [
    '9007199254740993',
    '0.10',
  ])
  assert.deepEqual(rows, [{ big: '9007199254740993', exact: '0.10' }])
})

test('rows that were read are freed by the next minor garbage collection', async () => {
  const kept = await bytesKept(async () => {
    for (let index = 0; index < 100; index++) await pool.query("select repeat('x', 100000) as text")
  })
  assert.ok(kept < 1_000_000, `${kept} bytes of 10,000,000 were kept`)
})

test('a transaction commits all of its work', async () => {
  const result = await pool.transaction(async (client) => {
    await client.query('insert into things values ($1, $2)', [1, 'one'])
    await client.query({
      name: 'insert-thing',
      text: 'insert into things values ($1, $2)',
      values: [2, 'two'],
    })
    return 'done'
  })
  assert.equal(result, 'done')
  assert.equal((await pool.query('select from things where id in (1, 2)')).rowCount, 2)
})

test('a transaction that throws is rolled back, and its connection stays usable', async (t) => {
  const single = openPool(connection, { max: 1 })
  t.after(() => single.close())
  const pid = await backend(single)
  const trouble = new Error('changed our mind')
  const work = single.transaction(async (client) => {
    await client.query('insert into things values (10)')
    throw trouble
  })
  await assert.rejects(work, trouble)
  await assert.rejects(
    single.transaction((client) => client.query('insert into things values (11), (11)')),
    { code: '23505' },
  )
  await assert.rejects(single.query('select from nowhere'), { code: '42P01' })
  assert.equal((await single.query('select from things where id in (10, 11)')).rowCount, 0)
  assert.equal(await backend(single), pid, 'a connection was thrown away for an error of a statement')
})

test('a transaction that ignored a failed statement does not commit', async () => {
  const work = pool.transaction(async (client) => {
    await client.query('insert into things values (20)')
    await client.query('select from nowhere').catch(() => {})
  })
  await assert.rejects(work, /rolled back/)
  assert.equal((await pool.query('select from things where id = 20')).rowCount, 0)
})

test('a statement is cancelled at its timeout, in a transaction by the server, and the connection stays usable', async (t) => {
  const hasty = openPool(connection, { max: 1, statementTimeoutMs: 50 })
  t.after(() => hasty.close())
  const pid = await backend(hasty)
  await assert.rejects(
    hasty.transaction((client) => client.query('select pg_sleep(60)')),
    (error) => isTransient(error) && (error as NodeJS.ErrnoException).code === '57014',
  )
  assert.equal(await backend(hasty), pid)
})

test('a statement outside a transaction that never returns is dropped with its connection', async (t) => {
  const hasty = openPool(connection, { max: 1, statementTimeoutMs: 1 })
  t.after(() => hasty.close())
  const pid = await backend(hasty)
  await assert.rejects(hasty.query('select pg_sleep(60)'), (error) => isTransient(error))
  assert.notEqual(await backend(hasty), pid)
})

test('a connection that breaks while idle, in a statement or in a transaction affects no other', async (t) => {
  const lost: string[] = []
  const fragile = openPool(connection, { max: 1, onConnectionLost: (error) => lost.push(error.message) })
  t.after(() => fragile.close())

  const idle = await backend(fragile)
  await pool.query('select pg_terminate_backend($1, 5000)', [idle])
  while (lost.length === 0) await new Promise(setImmediate)
  assert.notEqual(await backend(fragile), idle)

  const busy = await backend(fragile)
  const running = fragile.query('select pg_sleep(60)')
  const [outcome] = await Promise.allSettled([
    running,
    pool.query('select pg_terminate_backend($1, 5000)', [busy]),
  ])
  assert.ok(outcome.status === 'rejected' && isTransient(outcome.reason))

  const between = fragile.transaction(async (client) => {
    await pool.query('select pg_terminate_backend($1, 5000)', [await backend(client)])
    await client.query('select 1')
  })
  await assert.rejects(between, (error) => isTransient(error))
  assert.ok((await backend(fragile)) > 0)
})

test('a COMMIT whose response is lost reports an unknown outcome', async (t) => {
  const proxy = await startProxy(connection)
  const far = openPool(proxy.connection, { max: 1 })
  t.after(async () => {
    await far.close()
    await proxy.close()
  })
  const work = far.transaction(async (client) => {
    await client.query('insert into things values (30)')
    proxy.swallowAnswerTo('commit')
  })
  await assert.rejects(work, (error) => error instanceof CommitUnknown && isTransient(error))
  // The commit succeeded, which only a read can show.
  assert.equal((await pool.query('select from things where id = 30')).rowCount, 1)
  assert.equal((await far.query('select 1')).rowCount, 1)
})

test('callers over the limit are rejected at once, and those within it are served', async (t) => {
  const narrow = openPool(connection, { max: 1, maxWaiting: 2 })
  t.after(() => narrow.close())
  const letGo = Promise.withResolvers<void>()
  const holds = Promise.withResolvers<void>()
  const holding = narrow.transaction(async () => {
    holds.resolve()
    await letGo.promise
  })
  await holds.promise
  const waiting = [narrow.query('select 1'), narrow.query('select 1')]
  await assert.rejects(narrow.query('select 1'), (error) => error instanceof PoolBusy)
  letGo.resolve()
  await holding
  await Promise.all(waiting)
})

test('a caller waits for a connection up to the limit', async (t) => {
  // Long enough for the first connection on a busy machine.
  const narrow = openPool(connection, { max: 1, connectTimeoutMs: 500 })
  t.after(() => narrow.close())
  await narrow.transaction(async () => {
    await assert.rejects(narrow.query('select 1'), (error) => isTransient(error))
  })
})

test('with several servers, a reachable one is used, and is found again after an outage', async (t) => {
  const proxy = await startProxy(connection)
  const { host, port, user, database } = endpoint(proxy.connection)
  const reachable = `postgresql://${user}@${host}:${port}/${database}`
  // Port 1 is closed.
  const many = openPool({
    connectionString: `postgresql://${user}@127.0.0.1:1/${database}`,
    others: [reachable],
  })
  t.after(async () => {
    await many.close()
    await proxy.close()
  })
  const answers = await Promise.all(Array.from({ length: 20 }, () => many.query('select 1')))
  assert.ok(answers.every(({ rowCount }) => rowCount === 1))
  const nowhere = openPool({
    connectionString: 'postgresql://u@127.0.0.1:1/d',
    others: ['postgresql://u@127.0.0.1:1/d'],
  })
  t.after(() => nowhere.close())
  await assert.rejects(nowhere.query('select 1'), (error) => isTransient(error))
})

test('a prepared statement that the server does not know is sent in full from then on, with one warning', async (t) => {
  let results = 0
  const pooled = openPool(connection, { max: 1, onNotPrepared: () => results++ })
  t.after(() => pooled.close())
  const named = { name: 'count-things', text: 'select count(*) from things where id > $1', values: [0] }
  await pooled.query(named)
  // Like a pooler that switches to another connection.
  await pooled.query('deallocate all')
  assert.equal((await pooled.query(named)).rowCount, 1)
  assert.equal((await pooled.query('select from pg_prepared_statements')).rowCount, 0)
  await pooled.transaction(async (client) => {
    assert.equal((await client.query(named)).rowCount, 1)
  })
  assert.equal(results, 1)
})

test('two statements with one name and different text are kept apart', async (t) => {
  const single = openPool(connection, { max: 1 })
  t.after(() => single.close())
  const [one, two] = ['select 1 as n', 'select 2 as n'].map((text) =>
    single.query<{ n: number }>({ name: 'same', text }),
  )
  assert.deepEqual([(await one)?.rows[0]?.n, (await two)?.rows[0]?.n], [1, 2])
})

/** A proxy between the pool and the server that can cut the connection after a certain statement. */
async function startProxy(target: ConnectionOptions): Promise<{
  connection: ConnectionOptions
  swallowAnswerTo(statement: string): void
  close(): Promise<void>
}> {
  const { port, host, ...rest } = endpoint(target)
  let deadly: string | undefined
  const server = net.createServer((near) => {
    const far = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host)
    let isDoomed = false
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    near.on('data', (data) => {
      isDoomed ||= deadly !== undefined && data.toString('latin1').includes(deadly)
      far.write(data)
    })
    far.on('data', (data) => {
      if (!isDoomed) return near.write(data)
      deadly = undefined
      near.destroy()
      far.destroy()
    })
    near.on('close', () => far.end())
    far.on('close', () => near.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: proxyPort } = server.address() as net.AddressInfo
  return {
    connection: { ...rest, host: '127.0.0.1', port: proxyPort, ssl: false },
    swallowAnswerTo(statement) {
      deadly = statement
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function endpoint(target: ConnectionOptions): { host: string; port: number; user: string; database: string } {
  if ('host' in target) return target
  const { hostname, port, username, pathname } = new URL(target.connectionString)
  assert.ok(hostname, describeConnection(target))
  return { host: hostname, port: Number(port || 5432), user: username, database: pathname.slice(1) }
}

test('a server that dies with its first packet does not end the process', async (t) => {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.from(`${type}\0\0\0\0`)
    head.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const hello = message('R', Buffer.alloc(4))
  const ready = message('Z', Buffer.from('I'))
  const death = message('E', Buffer.from('SFATAL\0C57P02\0Mterminating connection\0\0'))
  const server = net.createServer((socket) => {
    socket.once('data', () => socket.end(Buffer.concat([hello, ready, death])))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  const dying = openPool({ host: '127.0.0.1', port, user: 'nobody', database: 'none', ssl: false })
  t.after(async () => {
    await dying.close()
    server.close()
  })
  await assert.rejects(dying.query('select 1'))
})

test('if the server accepts fewer connections than the pool wants, callers share them', async (t) => {
  await pool.query('create role few login connection limit 2')
  const url = new URL(urlOf(connection))
  url.username = 'few'
  const few = openPool({ connectionString: url.href }, { max: 10 })
  t.after(async () => {
    await few.close()
    await pool.query('drop role few')
  })
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => few.query('select $1::integer as index', [index])),
  )
  assert.deepEqual(
    answers.map(({ rows }) => rows[0]?.['index']),
    answers.map((_, index) => index),
  )
  assert.ok(few.counts().total <= 2)
})
