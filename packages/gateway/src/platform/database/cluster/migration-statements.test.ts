import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { forCluster, splitStatements } from './migration-statements.ts'

test('a migration is split at its semicolons, except in strings and comments', () => {
  const sql =
    "-- a; b\ncreate table a (t text default ';'); -- c;\n\nupdate a set t = 'it''s; so';\n-- the end;\n"
  const statements = splitStatements(sql)
  assert.deepEqual(
    statements.map(({ text }) => text),
    ["-- a; b\ncreate table a (t text default ';')", "-- c;\n\nupdate a set t = 'it''s; so'"],
  )
  for (const { text, offset } of statements) assert.equal(sql.slice(offset, offset + text.length), text)
})

test('all migrations are split without losing a word', () => {
  const folder = new URL('../../../../migrations/', import.meta.url)
  for (const name of readdirSync(folder)) {
    const sql = readFileSync(new URL(name, folder), 'utf8')
    assert.ok(!sql.includes('$$'), `${name} has a body in $$, which is not taken apart rightly`)
    const bare = (text: string) => text.replaceAll(/--[^\n]*|[\s;]/g, '')
    assert.equal(
      bare(
        splitStatements(sql)
          .map(({ text }) => text)
          .join(''),
      ),
      bare(sql),
      name,
    )
  }
})

test('changes of a distributed table are separate statements, and constraints have names', () => {
  assert.deepEqual(
    forCluster(`alter table orders
  add column a numeric(20, 0) not null default 0 check (a >= 0 and a in (1, 2)), -- why
  drop constraint orders_check4,
  add constraint orders_b check (num_nonnulls(a, b) in (0, 2))`),
    [
      'alter table orders add column a numeric(20, 0) not null default 0',
      'alter table orders add constraint orders_a_check check (a >= 0 and a in (1, 2))',
      'alter table orders drop constraint orders_check4',
      'alter table orders add constraint orders_b check (num_nonnulls(a, b) in (0, 2))',
    ],
  )
})

test('a new table with merchants’ rows is distributed with the others; local tables are not', () => {
  const made = 'create table payouts (merchant_id text not null)'
  assert.deepEqual(forCluster(made), [
    made,
    `select create_distributed_table('payouts', 'merchant_id', colocate_with => 'merchants')`,
  ])
  const local = 'alter table wallets add column a text check (a is null), add column b text'
  assert.deepEqual(forCluster(local), [local])
})
