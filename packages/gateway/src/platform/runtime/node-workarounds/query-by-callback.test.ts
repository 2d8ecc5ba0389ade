import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { bytesKept, mostBytesKept } from '../../../../../protocol/test/kept.ts'
import { freshDatabase } from '../../../../test/support/database.ts'
import { queryByCallback } from './query-by-callback.ts'

const { connection } = await freshDatabase()
const query = { text: "select repeat('x', 100000) as text" }

async function measure(
  ask: (client: pg.Client) => Promise<unknown>,
  keptBy: (work: () => Promise<void>) => Promise<number>,
): Promise<number> {
  const client = new pg.Client(connection)
  await client.connect()
  const kept = await keptBy(async () => {
    for (let index = 0; index < 100; index++) await ask(client)
  })
  await client.end()
  return kept
}

test('rows that were read are freed by the next minor garbage collection', async () => {
  const kept = await measure(
    (client) => queryByCallback<pg.QueryConfig, pg.QueryResult>(client, query, 1_000),
    bytesKept,
  )
  assert.ok(kept < 1_000_000, `${kept} bytes of 10,000,000 were kept`)
})

test('the workaround is needed while the driver’s own promise and timer keep them', async () => {
  // The types of the driver do not know the option.
  const kept = await measure(
    (client) => client.query({ ...query, query_timeout: 1_000 } as pg.QueryConfig),
    (work) => mostBytesKept(work, { enough: 5_000_000 }),
  )
  assert.ok(kept >= 5_000_000, `only ${kept} bytes of 10,000,000 were kept: query-by-callback.ts may go`)
})

test('a query that gets no response times out', async () => {
  const silent = { query: () => {} }
  await assert.rejects(queryByCallback(silent, query, 5), /Query read timeout/)
})
