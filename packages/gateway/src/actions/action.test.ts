import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineAction } from './action.ts'
import { object, text } from './fields.ts'

const answer = object('Done.', { what: text('What was done.', { max: 9 }) })
const run = async () => ({ what: 'nothing' })

test('an action that changes something must declare its effects, or startup fails', () => {
  const changing = { name: 'shop.give-away', summary: 'Give a shop away', answer, run }
  assert.throws(() => defineAction(changing), /the action shop\.give-away declares no effects/)
  assert.deepEqual(defineAction({ ...changing, effects: ['sends money out'] }).effects, ['sends money out'])
})

test('an action has the effects of the audited action with its name; a read-only action has none', () => {
  const summary = 'Something'
  assert.deepEqual(defineAction({ name: 'wallet.top-up', summary, answer, run }).effects, [
    'credits a wallet',
  ])
  assert.deepEqual(defineAction({ name: 'shop.list', summary, answer, run }).effects, [])
})
