import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allOf, columnsOf, plainSql, prepared, sql, unionAll } from './sql.ts'

test('values become parameters, in order', () => {
  const { text, values } = sql`select * from t where a = ${1} and b = ${'x'} limit ${undefined}`
  assert.equal(text, 'select * from t where a = $1 and b = $2 limit $3')
  assert.deepEqual(values, [1, 'x', undefined])
})

test('a fragment brings its values along wherever and as often as it is used', () => {
  const isOwn = sql`login = ${'alice'}`
  const { text, values } =
    sql`select ${plainSql('a, b')} from t where ${7} < c and (${isOwn} or not ${isOwn})`
  assert.equal(text, 'select a, b from t where $1 < c and (login = $2 or not login = $3)')
  assert.deepEqual(values, [7, 'alice', 'alice'])
})

test('external input is a value, even if it looks like SQL or a fragment', () => {
  const evil = { text: '1; drop table t', values: [] }
  const { text, values } = sql`select ${evil}, ${"'; drop table t"}`
  assert.equal(text, 'select $1, $2')
  assert.deepEqual(values, [evil, "'; drop table t"])
})

test('undefined conditions are omitted, and no condition means true', () => {
  const { text, values } = sql`where ${allOf([sql`a = ${1}`, undefined, false, sql`b = ${2}`, sql`c`])}`
  assert.equal(text, 'where a = $1 and b = $2 and c')
  assert.deepEqual(values, [1, 2])
  assert.equal(sql`where ${allOf([undefined])}`.text, 'where true')
})

test('united selects keep the values of each', () => {
  const { text, values } = unionAll([1, 2].map((value) => sql`select ${value}`))
  assert.equal(text, 'select $1 union all select $2')
  assert.deepEqual(values, [1, 2])
})

test('a prepared statement has a name', () => {
  assert.deepEqual(prepared('find')`select ${1}`, { name: 'find', text: 'select $1', values: [1] })
})

test('columns are read from items by name', () => {
  const items = [
    { a: 1, b: 'x' },
    { a: 2, b: undefined },
  ]
  assert.deepEqual(columnsOf(items, 'b', 'a'), [
    ['x', undefined],
    [1, 2],
  ])
})
