// The tables as the migrations make them, held against the rules that let them be spread by merchant_id; and each
// rule, broken on purpose, to see that it would be noticed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sealedPlaces } from '../../src/core/keys/store/sealed-secrets.ts'
import { type Catalog, faultsOf, readCatalog } from '../../src/platform/database/catalog.ts'
import {
  type ClusterState,
  databaseSettings,
  planDistribution,
  prepareDistribution,
  spreadTables,
} from '../../src/platform/database/cluster/distribute.ts'
import { spreadForeignKeys, tablePlans } from '../../src/platform/database/tables.ts'
import { freshDatabase } from '../support/database.ts'

const { pool } = await freshDatabase()

test('every table has a place, and nothing in it keeps the database from being spread', async () => {
  const catalog = await readCatalog(pool)
  assert.ok(catalog.tables.length >= 18)
  assert.deepEqual(faultsOf(catalog), [])
})

test('every column that holds a sealed secret is known to the rotation of the master key', async () => {
  const { tables } = await readCatalog(pool)
  const columns = tables.flatMap(({ name, columns }) =>
    columns.flatMap((column) => (column.name.startsWith('sealed_') ? `${name}.${column.name}` : [])),
  )
  const known = Object.values(sealedPlaces)
    .filter(({ assignment }) => assignment === undefined)
    .map(({ table, column }) => `${table}.${column}`)
  assert.deepEqual(columns.sort(), known.sort())
})

test('a new database has rows only where the list says that migrations put some', async () => {
  for (const [table, { isFilledByMigration = false }] of Object.entries(tablePlans)) {
    if (table === 'migrations') continue
    const { rowCount } = await pool.query(`select from ${table} limit 1`)
    assert.equal(rowCount > 0, isFilledByMigration, table)
  }
})

test('parents come before their children in the list of tables', () => {
  const order = Object.keys(tablePlans)
  for (const { table, references } of spreadForeignKeys())
    assert.ok(order.indexOf(references) < order.indexOf(table), `${references} before ${table}`)
})

const broken: [string, string, RegExp][] = [
  [
    'a table that nobody gave a place',
    'create table newcomers (id uuid primary key)',
    /newcomers has no place/,
  ],
  [
    'a sequence',
    'alter table wallets add column number integer generated always as identity',
    /sequence, wallets_number_seq/,
  ],
  [
    'a trigger',
    `create function nothing() returns trigger language plpgsql as 'begin return new; end';
     create trigger watch before update on orders for each row execute function nothing()`,
    /orders has a trigger, watch/,
  ],
  [
    'a unique key that does not begin with the merchant',
    'create unique index by_token on orders (order_no, merchant_id)',
    /by_token of spread table orders must begin with merchant_id/,
  ],
  [
    'a unique key on an expression',
    'create unique index by_lower on orders (lower(order_no), merchant_id)',
    /by_lower of spread table orders must begin/,
  ],
  [
    'a spread table whose merchant may be missing',
    'alter table callback_attempts drop constraint callback_attempts_pkey, alter column merchant_id drop not null',
    /callback_attempts needs merchant_id, not null/,
  ],
  [
    'a spread table without a primary key',
    'alter table callback_attempts drop constraint callback_attempts_pkey',
    /callback_attempts has no primary key/,
  ],
  [
    'a foreign key from a local table to a spread one',
    `alter table authorizations add constraint of_order foreign key (merchant_id, payment_id) references orders`,
    /of_order of authorizations \(local\) points at orders \(spread\)/,
  ],
  [
    'a foreign key whose columns stand in another order',
    `alter table callbacks drop constraint callbacks_merchant_id_payment_id_fkey;
     alter table callbacks add constraint callbacks_merchant_id_payment_id_fkey
       foreign key (payment_id, merchant_id) references orders (payment_id, merchant_id)`,
    /callbacks_merchant_id_payment_id_fkey of spread table callbacks must begin with merchant_id/,
  ],
  [
    'a foreign key that is not in the list',
    'alter table transfers add constraint of_merchant foreign key (merchant_id) references merchants not valid',
    /of_merchant of transfers is not in platform\/database\/tables.ts/,
  ],
  [
    'a foreign key that is gone',
    'alter table refunds drop constraint refunds_merchant_id_payment_id_fkey',
    /refunds has the foreign key refunds_merchant_id_payment_id_fkey, and it has not/,
  ],
  [
    'a table that is gone',
    'drop table callback_hosts',
    /a place for callback_hosts, and there is no such table/,
  ],
]

for (const [name, sql, fault] of broken) {
  test(`it is noticed: ${name}`, async () => {
    const undone = new Error('undone')
    let found: Catalog | undefined
    await assert.rejects(
      pool.transaction(async (client) => {
        await client.query(sql)
        found = await readCatalog(client)
        throw undone
      }),
      undone,
    )
    assert.ok(found)
    const faults = faultsOf(found)
    assert.equal(faults.length, 1, faults.join('\n'))
    assert.match(faults[0] ?? '', fault)
  })
}

// What Citus does with the statements is in test/cluster; these hold which ones are sent, and in which order.
const allKeys = new Map(spreadForeignKeys().map(({ name }) => [name, { isValid: true }]))

/** What the statements do to the state, as far as the plan depends on it. */
function play(before: ClusterState, statements: readonly string[]): ClusterState {
  const after = {
    spread: new Set(before.spread),
    foreignKeys: new Map(before.foreignKeys),
    settings: new Set(before.settings),
  }
  for (const sql of statements) {
    const [, table] = /create_distributed_table\('(\w+)'/.exec(sql) ?? []
    const [, verb, key] = /(validate|add) constraint (\w+)/.exec(sql) ?? []
    if (table !== undefined) after.spread.add(table)
    const [, name, value] = /set (citus\.\w+) = (\w+)/.exec(sql) ?? []
    if (name !== undefined) after.settings.add(`${name}=${value}`)
    if (key !== undefined) after.foreignKeys.set(key, { isValid: verb === 'validate' })
  }
  return after
}

test('spreading moves each table once, parents first, all beside the first', () => {
  const settings = new Set(databaseSettings.map((setting) => setting.join('=')))
  const steps = planDistribution({ spread: new Set(), foreignKeys: allKeys, settings }).map(({ sql }) => sql)
  assert.deepEqual(
    steps.map((sql) => /^select create_distributed_table\('(\w+)', 'merchant_id'/.exec(sql)?.[1]),
    spreadTables,
  )
  assert.match(steps[0] ?? '', /colocate_with => 'none'/)
  assert.ok(steps.slice(1).every((sql) => sql.includes(`colocate_with => 'merchants'`)))
})

test('whatever is missing, spread, key or setting, a run does exactly what is left; the run after it does nothing', () => {
  const keys = [...allKeys]
  for (let done = 0; done <= spreadTables.length; done++) {
    const left: ClusterState = {
      spread: new Set(spreadTables.slice(0, done)),
      foreignKeys: new Map(
        keys.flatMap(([name], index) =>
          index % 3 === 0 ? [] : [[name, { isValid: index % 3 === 1 }] as const],
        ),
      ),
      settings: new Set(done % 2 === 0 ? [] : ['citus.multi_shard_modify_mode=sequential']),
    }
    const state = play(
      left,
      planDistribution(left).map(({ sql }) => sql),
    )
    assert.deepEqual([...state.spread].sort(), spreadTables.toSorted())
    assert.deepEqual(state.foreignKeys, new Map(keys.map(([name]) => [name, { isValid: true }])))
    assert.deepEqual(planDistribution(state), [])
  }
})

test('a PostgreSQL without Citus is told apart in words that say what to do', async () => {
  await assert.rejects(prepareDistribution(pool), /has no Citus.*\n.*docs\/operating\.md/)
})
