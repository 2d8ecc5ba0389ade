// Pruning: what its time is over for goes, all of it and in bounded steps; what books and idempotency rest on stays.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeCallbackId } from '@tillgate/protocol'
import { rowBatch } from '../../src/actions/purge/purge-rows.ts'
import { makeCallbackHistory } from '../../src/core/callbacks/store/callback-history.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { until } from '../support/callbacks.ts'
import { freshDatabase } from '../support/database.ts'
import { startTestGateway } from '../support/gateway.ts'
import { testOperations } from '../support/operations.ts'

const dayMs = 86_400_000
const nowMs = 1_800_000_000_000
const { pool } = await freshDatabase()

/** Every wait is a breath between two batches. */
let breaths = 0
const clock = {
  now: () => nowMs,
  wait: async () => {
    breaths++
  },
}
const { stores, operations } = testOperations(pool, { clock })
// The partitions of the days before this clock's are gone: they have a test of their own.
await operations.purgePartitions()

async function countOf(table: string, where = 'true'): Promise<number> {
  return (await pool.query(`select from ${table} where ${where}`)).rowCount
}

test('old texts, ended sessions and unused hosts go in batches; orders and the callbacks’ rows stay', async () => {
  const merchantId = '123456789012345678'
  const callbacks = 450
  const hosts = rowBatch + 1
  await pool.query(
    `insert into merchants (merchant_id, name, status, created_at) values ('${merchantId}', 'Shop', 'active', 1)`,
  )
  const ids = (ageDays: number, count: number) =>
    Array.from({ length: count }, () => makeCallbackId(nowMs - ageDays * dayMs, randomBytes))
  const [old, young] = [ids(91, callbacks), ids(89, 3)]
  const all = [...old, ...young]
  await pool.query(
    `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                         payment_time, expires_at, content, created_at)
     select '${merchantId}', left(id, 32), id, 'timeout', 'WEB', 100, 'USD', 1, 300001, '{}', 1 from unnest($1::text[]) as o (id)`,
    [all.map((id) => id.replaceAll('-', ''))],
  )
  await pool.query(
    `insert into callbacks (merchant_id, callback_id, payment_id, event_name, callback_url, host, body, created_at, delivered_at)
     select '${merchantId}', id, replace(id::text, '-', ''), 'payment.order.timeout', 'https://shop.example', 'shop.example', '{}', 1, 2
       from unnest($1::uuid[]) as c (id)`,
    [all],
  )
  await pool.query(
    `insert into emails (email_id, kind, language, parameters, state, created_at, give_up_at, ended_at)
     select gen_random_uuid(), 'rail-paused', 'en', '{}', 'sent', 1, 1, ended_at from unnest($1::bigint[]) as n (ended_at)`,
    [[nowMs - 31 * dayMs, nowMs - 29 * dayMs]],
  )
  await pool.query(
    `insert into merchant_callback_hosts
     select '${merchantId}', 'host-' || n, case n when 0 then $1::bigint else $1::bigint - ${dayMs} end from generate_series(0, ${hosts}) n`,
    [nowMs],
  )
  await pool.query(`insert into operators (login, role, status, sealed_password, password_changed_at, created_at)
                    values ('ann', 'admin', 'active', '', 1, 1)`)
  await pool.query(
    `insert into operator_sessions (token_hash, login, address, created_at, last_seen_at, ends_at)
     values ('\\x01', 'ann', '', 1, 1, $1), ('\\x02', 'ann', '', 1, 1, $1::bigint + 1)`,
    [nowMs],
  )

  await pool.query(
    `insert into wallet_tries (tried_from, login_hash, tries, last_try_at)
     values ('address a', '\\x01', 1, $1::bigint - 8 * ${dayMs}::bigint), ('address b', '\\x01', 1, $1)`,
    [nowMs],
  )
  await pool.query(
    `insert into operator_tries (login_hash, tries, last_try_at)
     values ('\\x01', 1, $1::bigint - 2 * ${dayMs}::bigint), ('\\x02', 1, $1)`,
    [nowMs],
  )
  const prune = () => operations.prune(new AbortController().signal)
  const partitions = { dropped: [], busy: [] }
  assert.deepEqual(await prune(), {
    callbacks,
    partitions,
    exhausted: 0,
    sessions: 1,
    hosts,
    erased: 0,
    tries: 2,
    emails: 1,
  })
  assert.equal(breaths, 3, 'two between three batches of callbacks, one between two of hosts')
  assert.equal(await countOf('callbacks', 'body is not null'), young.length)
  assert.equal(await countOf('callbacks'), all.length)
  assert.equal(await countOf('orders'), all.length)
  assert.equal(await countOf('merchant_callback_hosts'), 1)
  assert.equal(await countOf('operator_sessions'), 1)
  assert.equal(await countOf('wallet_tries'), 1)
  assert.equal(await countOf('operator_tries'), 1)
  assert.deepEqual(await prune(), {
    callbacks: 0,
    partitions,
    exhausted: 0,
    sessions: 0,
    hosts: 0,
    erased: 0,
    tries: 0,
    emails: 0,
  })
})

test('a callback that is asked for again while it is being pruned keeps its text', async () => {
  const merchantId = '123456789012345679'
  const callbackId = makeCallbackId(nowMs - 91 * dayMs, randomBytes)
  const paymentId = callbackId.replaceAll('-', '')
  await pool.query(
    `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                         payment_time, expires_at, content, created_at)
     values ('${merchantId}', $1, '1', 'timeout', 'WEB', 100, 'USD', 1, 300001, '{}', 1)`,
    [paymentId],
  )
  await pool.query(
    `insert into callbacks (merchant_id, callback_id, payment_id, event_name, callback_url, host, body, created_at,
                            first_attempt_at, delivered_at)
     values ('${merchantId}', $1, $2, 'payment.order.timeout', 'https://shop.example', 'shop.example', '{}', 1, 2, 2)`,
    [callbackId, paymentId],
  )
  let asked: number | undefined
  const between: Pool = {
    ...pool,
    transaction: (work, options) =>
      pool.transaction(
        (client) =>
          work({
            async query(statement, values) {
              const found = await client.query(statement, values)
              // The candidates are known, and nothing is written yet.
              asked ??= await stores.callbackResends.resendOfOrder(
                { merchantId, paymentId },
                { nowMs, notSinceMs: 0 },
                { requestedAtMs: nowMs, signHash: Buffer.from('x'), forgetBeforeMs: 0 },
              )
              return found as never
            },
          }),
        options,
      ),
  }
  assert.equal(await makeCallbackHistory(between).prune({ olderThanMs: nowMs - 90 * dayMs, limit: 10 }), 0)
  assert.equal(asked, 1)
  assert.equal(await countOf('callbacks', `merchant_id = '${merchantId}' and body is not null`), 1)
  assert.equal(await countOf('callback_queue', `merchant_id = '${merchantId}'`), 1)
})

test('a gateway takes old emails, hosts and links away by itself', async () => {
  const first = await startTestGateway()
  const { merchantId } = await first.addMerchant()
  const longAgo = Date.now() - 31 * dayMs
  await first.pool.query(
    `insert into emails (email_id, kind, recipient, language, parameters, state, created_at, give_up_at, ended_at)
     values (gen_random_uuid(), 'rail-paused', 'ann@shop.example', 'en', '{}', 'sent', 1, 1, $1)`,
    [longAgo],
  )
  await first.pool.query('insert into merchant_callback_hosts values ($1, $2, $3)', [
    merchantId,
    'old.example',
    longAgo,
  ])
  await first.pool.query(
    `insert into member_links (link_id, token_hash, kind, login, made_by, created_at, expires_at)
     values (gen_random_uuid(), '\\x01', 'recovery', 'ann@shop.example', 'test', 1, $1)`,
    [longAgo],
  )
  await startTestGateway({ share: first })
  const rows = async () => {
    const counts = ['emails', 'merchant_callback_hosts', 'member_links'].map((table) =>
      first.pool.query(`select from ${table}`),
    )
    return (await Promise.all(counts)).reduce((sum, { rowCount }) => sum + rowCount, 0)
  }
  await until(async () => (await rows()) === 0)
})
