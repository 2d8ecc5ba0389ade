import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hints, hear } from './hints.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

function world() {
  const sent: string[] = []
  const waits: (() => void)[] = []
  const hints = new Hints({
    send: async (text) => {
      sent.push(text)
    },
    clock: { now: () => 0, wait: () => new Promise((resolve) => waits.push(resolve)) },
  })
  return { sent, hints, moveOn: () => waits.shift()?.() }
}

function heard(text: string) {
  const told: unknown[] = []
  hear(text, {
    onQueued: (lanes) => told.push(['queued', lanes]),
    onChanged: (key) => told.push(['changed', key]),
    onSubmitted: () => told.push(['submitted']),
    onRailTask: () => told.push(['railTask']),
    onExpiry: (expiresAtMs) => told.push(['expiry', expiresAtMs]),
    onKeyInUse: (merchantId) => told.push(['keyInUse', merchantId]),
  })
  return told
}

const destinationId = '0197c5a0-0000-7000-8000-00000000000a'
const lane = { merchantId: 'm', host: 'shop.example:8443', destinationId }

test('what one commit tells goes out at once and together, and is heard as it was told', async () => {
  const { sent, hints } = world()
  hints.queued([lane])
  hints.queued([lane])
  hints.changed({ merchantId: 'm', paymentId: 'p' })
  hints.submitted()
  hints.expiring(70)
  hints.expiring(90)
  hints.keyInUse('m')
  hints.keyInUse('m')
  await turn()
  assert.equal(sent.length, 1)
  assert.deepEqual(heard(sent[0] ?? ''), [
    ['queued', [lane]],
    ['changed', { merchantId: 'm', paymentId: 'p' }],
    ['submitted'],
    ['expiry', 70],
    ['keyInUse', 'm'],
  ])
})

test('a crowd waits for the message before it and shares the next', async () => {
  const { sent, hints, moveOn } = world()
  hints.submitted()
  await turn()
  for (let i = 0; i < 20; i++) hints.changed({ merchantId: 'm', paymentId: `p${i}` })
  await turn()
  assert.equal(sent.length, 1)
  moveOn()
  await turn()
  assert.equal(sent.length, 2)
  assert.equal(heard(sent[1] ?? '').length, 20)
  moveOn()
  await turn()
  hints.submitted()
  await turn()
  assert.equal(sent.length, 3)
})

test('a message never grows past what PostgreSQL takes', async () => {
  const { sent, hints } = world()
  for (let i = 0; i < 5_000; i++) hints.queued([{ ...lane, merchantId: String(i), host: 'h'.repeat(250) }])
  await turn()
  assert.ok((sent[0]?.length ?? 0) < 7_900 && (sent[0]?.length ?? 0) > 5_000)
})

test('what is no hint is passed over', () => {
  for (const text of ['', 'x', 'null', '7', '[]', '{"c":7,"o":[1,["a"],["a",1]],"s":"yes","e":"soon"}'])
    assert.deepEqual(heard(text), [], text)
  // As the release before writes it, and one that no claim could name.
  for (const lane of ['["m","shop.example"]', '["m","shop.example","no id"]'])
    assert.deepEqual(heard(`{"c":[${lane}]}`), [], lane)
})
