import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangeMessages, readChanges } from './change-messages.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

function world() {
  const sent: string[] = []
  const waits: (() => void)[] = []
  const messages = new ChangeMessages({
    send: async (text) => {
      sent.push(text)
    },
    clock: { now: () => 0, wait: () => new Promise((resolve) => waits.push(resolve)) },
  })
  return { sent, messages, moveOn: () => waits.shift()?.() }
}

const destinationId = '0197c5a0-0000-7000-8000-00000000000a'
const lane = { merchantId: 'm', host: 'shop.example:8443', destinationId }

const order = { kind: 'order', merchantId: 'm', paymentId: 'p' } as const

test('the changes of one commit are sent immediately in one message and are read back unchanged', async () => {
  const { sent, messages } = world()
  messages.add({ kind: 'callbacks', lanes: [lane] })
  messages.add({ kind: 'callbacks', lanes: [lane] })
  messages.add({ ...order, status: 'success' })
  messages.add({ kind: 'payment submitted' })
  messages.add({ kind: 'order created', dueAtMs: 70 })
  messages.add({ kind: 'key in use', merchantId: 'm' })
  messages.add({ kind: 'key in use', merchantId: 'm' })
  await turn()
  assert.equal(sent.length, 1)
  assert.deepEqual(readChanges(sent[0] ?? ''), [
    { kind: 'callbacks', lanes: [lane] },
    order,
    { kind: 'payment submitted' },
    { kind: 'key in use', merchantId: 'm' },
  ])
})

test('many changes wait for the previous message and share the next one', async () => {
  const { sent, messages, moveOn } = world()
  messages.add({ kind: 'payment submitted' })
  await turn()
  for (let i = 0; i < 20; i++) messages.add({ ...order, paymentId: `p${i}` })
  await turn()
  assert.equal(sent.length, 1)
  moveOn()
  await turn()
  assert.equal(sent.length, 2)
  assert.equal(readChanges(sent[1] ?? '').length, 20)
  moveOn()
  await turn()
  messages.add({ kind: 'payment submitted' })
  await turn()
  assert.equal(sent.length, 3)
})

test('a message never exceeds PostgreSQL’s limit', async () => {
  const { sent, messages } = world()
  for (let i = 0; i < 5_000; i++)
    messages.add({ kind: 'callbacks', lanes: [{ ...lane, merchantId: String(i), host: 'h'.repeat(250) }] })
  await turn()
  assert.ok((sent[0]?.length ?? 0) < 7_900 && (sent[0]?.length ?? 0) > 5_000)
})

test('a payload that is not a change is ignored', () => {
  for (const text of [
    '',
    'x',
    'null',
    '7',
    '[]',
    '{"w":["email",7]}',
    '{"c":7,"o":[1,["a"],["a",1]],"w":"yes","k":[7]}',
  ])
    assert.deepEqual(readChanges(text), [], text)
  // A message of the previous release, and one with an invalid claim.
  for (const lane of ['["m","shop.example"]', '["m","shop.example","no id"]'])
    assert.deepEqual(readChanges(`{"c":[${lane}]}`), [], lane)
})
