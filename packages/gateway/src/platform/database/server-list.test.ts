import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerChoice, splitServers } from './server-list.ts'

test('a single server is not changed', () => {
  for (const url of [
    'postgresql://u:p%40ss@db.example:5432/tillgate?sslmode=require&x=a+b',
    'postgres://db/tillgate',
    'postgresql://u@localhost:5432/t?host=%2Ftmp%2Fsocket',
    'not a url',
  ])
    assert.deepEqual(splitServers(url), [url])
})

test('several servers share user, database and parameters; each has its own port', () => {
  assert.deepEqual(
    splitServers(
      'postgresql://u:p,w@a.example:5433,b.example,[::1]:6/t?target_session_attrs=read-write&sslmode=require',
    ),
    [
      'postgresql://u:p,w@a.example:5433/t?sslmode=require',
      'postgresql://u:p,w@b.example/t?sslmode=require',
      'postgresql://u:p,w@[::1]:6/t?sslmode=require',
    ],
  )
})

test('read-only server lists and lists without a host are rejected', () => {
  assert.throws(() => splitServers('postgresql://a,b/t?target_session_attrs=standby'), /needs read-write/)
  for (const hosts of ['a,', ',a', 'a,,b'])
    assert.throws(() => splitServers(`postgresql://${hosts}/t`), /empty host/)
})

test('after one failure, all callers move to the next server once; after the last comes the first', () => {
  const choice = new ServerChoice(['a', 'b', 'c'])
  for (let noticed = 0; noticed < 10; noticed++) choice.leave('a')
  assert.equal(choice.current, 'b')
  choice.leave('b')
  choice.leave('c')
  assert.equal(choice.current, 'a')
})
